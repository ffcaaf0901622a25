// Kernels that take what to do as an argument: function objects, lambdas marked __device__, template parameters.
// OUT: doubled, cubed, shifted by 5, clamped
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

template <typename T, typename F>
__global__ void transform(T* x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}

struct Double {
  __host__ __device__ int operator()(int v) const { return 2 * v; }
};
template <int power>
struct Power {
  template <typename T>
  __host__ __device__ T operator()(T v) const {
    T result = 1;
    for (int i = 0; i < power; ++i) result *= v;
    return result;
  }
};

template <typename F>
bool check(F f) {
  const int n = 500;
  std::vector<int> host(n), found(n);
  for (int i = 0; i < n; ++i) host[i] = i - 100;
  int* device;
  CHECK(hipMalloc(&device, n * sizeof(int)));
  CHECK(hipMemcpy(device, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
  transform<<<(n + 63) / 64, 64>>>(device, n, f);
  CHECK(hipMemcpy(found.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipFree(device));
  for (int i = 0; i < n; ++i)
    if (found[i] != f(host[i])) return false;
  return true;
}

int main() {
  int shift = 5;
  if (!check(Double())) return 1;
  if (!check(Power<3>())) return 2;
  if (!check([=] __host__ __device__(int v) { return v + shift; })) return 3;
  if (!check([] __host__ __device__(int v) { return v < 0 ? 0 : v > 9 ? 9 : v; })) return 4;
  std::puts("doubled, cubed, shifted by 5, clamped");
}
