// Pi by throwing darts: numbers made on the device, and an array of them made by the library.
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>
#include <cstdio>

__global__ void setup(curandState* states, unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(seed, i, 0, &states[i]);
}

__global__ void throw_darts(curandState_t* states, unsigned int* hits, int darts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  curandState local = states[i];
  unsigned int inside = 0;
  for (int d = 0; d < darts; ++d) {
    float x = curand_uniform(&local), y = curand_uniform(&local);
    inside += x * x + y * y <= 1.0f;
  }
  states[i] = local;
  atomicAdd(hits, inside);
}

int main() {
  const int threads = 256, darts = 1000;
  curandStatePhilox4_32_10_t* unused = nullptr;
  curandState* states;
  unsigned int *hits, host = 0;
  float* numbers;
  cudaMalloc(&states, threads * sizeof(curandState));
  cudaMalloc(&hits, sizeof(unsigned int));
  cudaMalloc(&numbers, threads * sizeof(float));
  cudaMemset(hits, 0, sizeof(unsigned int));
  setup<<<1, threads>>>(states, 1234ULL);
  throw_darts<<<1, threads>>>(states, hits, darts);
  cudaMemcpy(&host, hits, sizeof(unsigned int), cudaMemcpyDeviceToHost);
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_XORWOW);
  curandSetPseudoRandomGeneratorSeed(generator, 42ULL);
  if (curandGenerateUniform(generator, numbers, threads) != CURAND_STATUS_SUCCESS) return 1;
  curandDestroyGenerator(generator);
  printf("%g\n", 4.0 * host / (1.0 * threads * darts));
  return unused != nullptr;
}
