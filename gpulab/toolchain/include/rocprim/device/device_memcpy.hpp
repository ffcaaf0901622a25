// It stands in device_copy.hpp.
#pragma once
#include "device_copy.hpp"
