// HIP has bfloat16 under this name; here it is in hip_bfloat16.h.
#pragma once
#include "../hip_bfloat16.h"
