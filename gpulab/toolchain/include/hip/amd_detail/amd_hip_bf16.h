// HIP has bfloat16 under this name; here it is in hip_bf16.h.
#pragma once
#include "../hip_bf16.h"
