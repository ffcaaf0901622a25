// __constant__ and __device__ variables, copied to and from by name; also static ones and arrays of structures.
// OUT: filtered 1024 values
// OUT: 1024 threads counted
// OUT: the table at its address: 1 4 9 16
// ERR: hipMemcpyToSymbol returned hipErrorInvalidValue: 36 bytes from byte 4 on go past
#include <hip/hip_runtime.h>

#include <cmath>
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

constexpr int taps = 9;
struct Scale {
  float factor;
  int shift;
};
__constant__ float coefficients[taps];
__constant__ Scale scale;
static __constant__ int table[4] = {1, 4, 9, 16};
__device__ unsigned int counted;
static __device__ int seen[4];

__global__ void filter(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < taps; ++k) {
    int at = i + k - taps / 2;
    if (at >= 0 && at < n) sum += coefficients[k] * in[at];
  }
  out[i] = sum * scale.factor + scale.shift;
  atomicAdd(&counted, 1u);
  if (i < 4) seen[i] = table[i];
}

int main() {
  const int n = 1024;
  std::vector<float> in(n), out(n);
  float host[taps];
  for (int k = 0; k < taps; ++k) host[k] = 1.0f / (1 + k);
  for (int i = 0; i < n; ++i) in[i] = static_cast<float>(i % 17);
  Scale s{2.0f, 3};
  CHECK(hipMemcpyToSymbol(coefficients, host, sizeof host));
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(scale), &s, sizeof s, 0, hipMemcpyHostToDevice));
  float *din, *dout;
  CHECK(hipMalloc(&din, n * sizeof(float)));
  CHECK(hipMalloc(&dout, n * sizeof(float)));
  CHECK(hipMemcpy(din, in.data(), n * sizeof(float), hipMemcpyHostToDevice));
  filter<<<4, 256>>>(din, dout, n);
  CHECK(hipMemcpy(out.data(), dout, n * sizeof(float), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
      int at = i + k - taps / 2;
      if (at >= 0 && at < n) sum += host[k] * in[at];
    }
    if (std::fabs(out[i] - (sum * 2 + 3)) > 1e-3f) return 1;
  }
  std::printf("filtered %d values\n", n);
  unsigned int threads = 0;
  CHECK(hipMemcpyFromSymbol(&threads, counted, sizeof threads));
  std::printf("%u threads counted\n", threads);
  void* address = nullptr;
  size_t bytes = 0;
  CHECK(hipGetSymbolAddress(&address, seen));
  CHECK(hipGetSymbolSize(&bytes, seen));
  int found[4];
  if (bytes != sizeof found) return 1;
  CHECK(hipMemcpy(found, address, bytes, hipMemcpyDeviceToHost));
  std::printf("the table at its address: %d %d %d %d\n", found[0], found[1], found[2], found[3]);
  if (hipMemcpyToSymbol(coefficients, host, sizeof host, 4) != hipErrorInvalidValue) return 1;
  CHECK(hipFree(din));
  CHECK(hipFree(dout));
}
