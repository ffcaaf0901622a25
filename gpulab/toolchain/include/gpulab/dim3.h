// dim3: three sizes, 1 where not given.
#pragma once
#include "definitions.h"

struct dim3 {
  uint32_t x, y, z;
  __host__ __device__ __attribute__((nodebug)) constexpr dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1)
      : x(x), y(y), z(z) {}
};
