#include "physics.h"
__constant__ double spring = 4.0;
__device__ unsigned long long evaluations = 0;
__device__ double force(const Body& b) {
  atomicAdd(&evaluations, 1ull);
  return -spring * b.x;
}
