// 6-bit floating-point numbers: E3M2, largest 28, smallest 1/16, and E2M3, largest 7.5, smallest 1/8; each in a byte.
//
// gpulab/tiny_floats.h says how they are rounded. They are computed step by step, not by gfx950's instructions.
#pragma once
#include "../gpulab/names.h"
#include "../gpulab/tiny_floats.h"

typedef unsigned char __hip_fp6_storage_t;
typedef unsigned short __hip_fp6x2_storage_t;
typedef unsigned int __hip_fp6x4_storage_t;
enum __hip_fp6_interpretation_t { __HIP_E3M2 = 0, __HIP_E2M3 = 1 };

namespace gpulab {
__GPULAB_BOTH__ constexpr tiny_format fp6(__hip_fp6_interpretation_t name) {
  return name == __HIP_E3M2 ? tiny_format{2, 3, 0x1f, 0x20} : tiny_format{3, 1, 0x1f, 0x20};
}
}  // namespace gpulab
__GPULAB_TINY_FUNCTIONS__(fp6, 8, gpulab::fp6(type))
__GPULAB_TINY_TYPES__(fp6, e3m2, __HIP_E3M2, 8, gpulab::fp6(__HIP_E3M2))
__GPULAB_TINY_TYPES__(fp6, e2m3, __HIP_E2M3, 8, gpulab::fp6(__HIP_E2M3))
#include "../gpulab/names_end.h"
