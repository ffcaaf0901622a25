// Launches by hipLaunchKernel, with arguments of several types and sizes behind an array of addresses.
// OUT: hipLaunchKernel: 21.5
// OUT: function pointer: 43
// OUT: hipExtLaunchKernel is timed
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

struct Pair {
  char tag;
  double value;
};
__global__ void mixed(char a, short b, Pair p, const int* x, bool flag, float* out) {
  if (flag && threadIdx.x == 0) *out = a + b + static_cast<float>(p.value) + x[1];
}

int main() {
  int host[2] = {1, 10}, *x;
  float *out, result = 0;
  CHECK(hipMalloc(&x, sizeof host));
  CHECK(hipMalloc(&out, sizeof(float)));
  CHECK(hipMemcpy(x, host, sizeof host, hipMemcpyHostToDevice));
  char a = 1;
  short b = 2;
  Pair p{'p', 8.5};
  bool flag = true;
  const int* px = x;
  void* arguments[] = {&a, &b, &p, &px, &flag, &out};
  CHECK(hipLaunchKernel(reinterpret_cast<const void*>(mixed), dim3(1), dim3(64), arguments, 0, nullptr));
  CHECK(hipMemcpy(&result, out, sizeof result, hipMemcpyDeviceToHost));
  std::printf("hipLaunchKernel: %g\n", result);
  auto pointer = &mixed;
  p.value = 30;
  pointer<<<1, 32>>>(a, b, p, px, flag, out);
  CHECK(hipMemcpy(&result, out, sizeof result, hipMemcpyDeviceToHost));
  std::printf("function pointer: %g\n", result);
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  CHECK(hipExtLaunchKernel(reinterpret_cast<const void*>(mixed), dim3(1), dim3(64), arguments, 0, nullptr, start, stop,
                           0));
  CHECK(hipEventSynchronize(stop));
  float ms = 0;
  CHECK(hipEventElapsedTime(&ms, start, stop));
  if (ms > 0) std::puts("hipExtLaunchKernel is timed");
}
