// Managed memory: pointers for both sides, advice and prefetching, a __managed__ variable.
#include <cuda_runtime.h>
#include <cstdio>

__device__ __managed__ int calls = 0;

struct Particle {
  float position, velocity;
};

__global__ void step(Particle* particles, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    particles[i].position += particles[i].velocity * dt;
    if (i == 0) atomicAdd(&calls, 1);
  }
}

int main() {
  const int n = 100;
  Particle* particles;
  int device = 0;
  cudaGetDevice(&device);
  cudaMallocManaged(&particles, n * sizeof(Particle));
  for (int i = 0; i < n; ++i) particles[i] = {static_cast<float>(i), 0.5f * i};
  cudaMemAdvise(particles, n * sizeof(Particle), cudaMemAdviseSetPreferredLocation, device);
  cudaMemPrefetchAsync(particles, n * sizeof(Particle), device, 0);
  for (int t = 0; t < 4; ++t) step<<<1, 128>>>(particles, 0.25f, n);
  cudaMemPrefetchAsync(particles, n * sizeof(Particle), cudaCpuDeviceId);
  cudaDeviceSynchronize();
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += particles[i].position;
  printf("%g %d\n", sum, calls);
  cudaFree(particles);
  return 0;
}
