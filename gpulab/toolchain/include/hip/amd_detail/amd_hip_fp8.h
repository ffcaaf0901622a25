// HIP has 8-bit floating-point numbers under this name; here they are in hip_fp8.h.
#pragma once
#include "../hip_fp8.h"
