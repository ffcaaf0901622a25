// It stands in device_reference.h.
#pragma once
#include "../device_reference.h"
