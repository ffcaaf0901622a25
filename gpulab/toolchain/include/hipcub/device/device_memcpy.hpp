// hipcub::DeviceMemcpy stands beside DeviceCopy.
#pragma once
#include "device_copy.hpp"
