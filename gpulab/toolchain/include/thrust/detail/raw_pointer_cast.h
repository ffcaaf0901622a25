// It stands in device_ptr.h.
#pragma once
#include "../device_ptr.h"
