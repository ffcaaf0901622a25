// 4-bit floating-point numbers, E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; two of them in a byte.
//
// gpulab/tiny_floats.h says how they are rounded. They are computed step by step, not by gfx950's instructions.
#pragma once
#include "../gpulab/names.h"
#include "../gpulab/tiny_floats.h"

typedef unsigned char __hip_fp4_storage_t;
typedef unsigned char __hip_fp4x2_storage_t;
typedef unsigned short __hip_fp4x4_storage_t;
enum __hip_fp4_interpretation_t { __HIP_E2M1 = 0 };

namespace gpulab {
__GPULAB_BOTH__ constexpr tiny_format fp4(__hip_fp4_interpretation_t) { return {1, 1, 0x7, 0x8}; }
}  // namespace gpulab
__GPULAB_TINY_FUNCTIONS__(fp4, 4, gpulab::fp4(type))
__GPULAB_TINY_TYPES__(fp4, e2m1, __HIP_E2M1, 4, gpulab::fp4(__HIP_E2M1))
#include "../gpulab/names_end.h"
