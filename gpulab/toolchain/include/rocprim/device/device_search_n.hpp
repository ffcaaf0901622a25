// It stands in device_find.hpp.
#pragma once
#include "device_find.hpp"
