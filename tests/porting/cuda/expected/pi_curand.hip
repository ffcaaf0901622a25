// Pi by throwing darts: numbers made on the device, and an array of them made by the library.
#include <hip/hip_runtime.h>
#include <hiprand/hiprand.h>
#include <hiprand/hiprand_kernel.h>
#include <cstdio>

__global__ void setup(hiprandState* states, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  hiprand_init(seed, i, 0, &states[i]);
}

__global__ void throw_darts(hiprandState_t* states, unsigned int* hits, int darts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  hiprandState local = states[i];
  unsigned int inside = 0;
  for (int d = 0; d < darts; ++d) {
    float x = hiprand_uniform(&local), y = hiprand_uniform(&local);
    inside += x * x + y * y <= 1.0f;
  }
  states[i] = local;
  atomicAdd(hits, inside);
}

int main() {
  const int threads = 256, darts = 1000;
  hiprandStatePhilox4_32_10_t* unused = nullptr;
  hiprandState* states;
  unsigned int *hits, host = 0;
  float* numbers;
  hipMalloc(&states, threads * sizeof(hiprandState));
  hipMalloc(&hits, sizeof(unsigned int));
  hipMalloc(&numbers, threads * sizeof(float));
  hipMemset(hits, 0, sizeof(unsigned int));
  setup<<<1, threads>>>(states, 1234ULL);
  throw_darts<<<1, threads>>>(states, hits, darts);
  hipMemcpy(&host, hits, sizeof(unsigned int), hipMemcpyDeviceToHost);
  hiprandGenerator_t generator;
  hiprandCreateGenerator(&generator, HIPRAND_RNG_PSEUDO_XORWOW);
  hiprandSetPseudoRandomGeneratorSeed(generator, 42ULL);
  if (hiprandGenerateUniform(generator, numbers, threads) != HIPRAND_STATUS_SUCCESS) return 1;
  hiprandDestroyGenerator(generator);
  printf("%g\n", 4.0 * host / (1.0 * threads * darts));
  return unused != nullptr;
}
