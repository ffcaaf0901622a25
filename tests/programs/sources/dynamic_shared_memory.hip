// Dynamic LDS: its size comes with the launch, as the third argument of <<<>>>.
// OUT: reversed 64, 128, 256 and 512 values
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
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

template <typename T>
__global__ void reverse(T* values) {
  extern __shared__ unsigned char raw[];
  T* tile = reinterpret_cast<T*>(raw);
  int i = threadIdx.x, n = blockDim.x;
  tile[i] = values[i];
  __syncthreads();
  values[i] = tile[n - 1 - i];
}

template <typename T>
bool check(int n) {
  std::vector<T> host(n);
  std::iota(host.begin(), host.end(), T(1));
  T* device;
  CHECK(hipMalloc(&device, n * sizeof(T)));
  CHECK(hipMemcpy(device, host.data(), n * sizeof(T), hipMemcpyHostToDevice));
  reverse<T><<<1, n, n * sizeof(T)>>>(device);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(host.data(), device, n * sizeof(T), hipMemcpyDeviceToHost));
  CHECK(hipFree(device));
  for (int i = 0; i < n; ++i)
    if (host[i] != T(n - i)) return false;
  return true;
}

int main() {
  if (!check<int>(64) || !check<double>(128) || !check<float>(256) || !check<long long>(512)) return 1;
  std::puts("reversed 64, 128, 256 and 512 values");
}
