// Bodies that attract each other: positions in float4, tiles of them in shared memory.
#include <cuda_runtime.h>
#include <cstdio>

#define SOFTENING 0.01f
#define TILE 64

__device__ float3 attract(float4 mine, float4 other, float3 acceleration) {
  float3 r = make_float3(other.x - mine.x, other.y - mine.y, other.z - mine.z);
  float square = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
  float inverse = rsqrtf(square);
  float strength = other.w * inverse * inverse * inverse;
  acceleration.x += r.x * strength;
  acceleration.y += r.y * strength;
  acceleration.z += r.z * strength;
  return acceleration;
}

__global__ void forces(const float4* __restrict__ bodies, float4* accelerations, int n) {
  __shared__ float4 tile[TILE];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 mine = bodies[i];
  float3 sum = {0.0f, 0.0f, 0.0f};
  for (int t = 0; t < n / TILE; ++t) {
    tile[threadIdx.x] = __ldg(&bodies[t * TILE + threadIdx.x]);
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum = attract(mine, tile[k], sum);
    __syncthreads();
  }
  accelerations[i] = make_float4(sum.x, sum.y, sum.z, 0.0f);
}

int main() {
  const int n = 128;
  float4 bodies[n], out[n], *dbodies, *dout;
  for (int i = 0; i < n; ++i) bodies[i] = make_float4(i % 5, i % 7, i % 11, 1.0f + i % 3);
  cudaMalloc(&dbodies, sizeof(bodies));
  cudaMalloc(&dout, sizeof(out));
  cudaMemcpy(dbodies, bodies, sizeof(bodies), cudaMemcpyHostToDevice);
  forces<<<n / TILE, TILE>>>(dbodies, dout, n);
  cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost);
  printf("%.4f %.4f %.4f\n", out[0].x, out[64].y, out[127].z);
  return 0;
}
