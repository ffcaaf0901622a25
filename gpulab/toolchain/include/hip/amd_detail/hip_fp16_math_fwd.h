// HIP has half precision under this name; here it is in hip_fp16.h.
#pragma once
#include "../hip_fp16.h"
