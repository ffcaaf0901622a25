// It stands in device_nth_element.hpp.
#pragma once
#include "device_nth_element.hpp"
