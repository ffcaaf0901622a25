// SAXPY timed with events, and with the host's clock; times are not compared with anything but zero.
// OUT: y[10] = 21.5
// OUT: the events are in order
#include <hip/hip_runtime.h>

#include <chrono>
#include <iostream>
#include <numeric>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  constexpr int n = 1 << 16;
  std::vector<float> x(n), y(n, 1.5f);
  std::iota(x.begin(), x.end(), 0.0f);
  auto begin = std::chrono::steady_clock::now();
  float *dx = nullptr, *dy = nullptr;
  CHECK(hipMalloc(&dx, sizeof(float) * n));
  CHECK(hipMalloc(&dy, sizeof(float) * n));
  CHECK(hipMemcpy(dx, x.data(), sizeof(float) * n, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dy, y.data(), sizeof(float) * n, hipMemcpyHostToDevice));
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  CHECK(hipEventRecord(start));
  saxpy<<<dim3(n / 128), dim3(128), 0, 0>>>(n, 2.0f, dx, dy);
  CHECK(hipEventRecord(stop, 0));
  CHECK(hipEventSynchronize(stop));
  float ms = -1;
  CHECK(hipEventElapsedTime(&ms, start, stop));
  CHECK(hipMemcpy(y.data(), dy, sizeof(float) * n, hipMemcpyDeviceToHost));
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  for (int i = 0; i < n; ++i)
    if (y[i] != 2.0f * i + 1.5f) return 1;
  std::cout << "y[10] = " << y[10] << '\n';
  if (ms > 0 && took.count() > 0) std::cout << "the events are in order" << std::endl;
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  CHECK(hipFree(dx));
  CHECK(hipFree(dy));
}
