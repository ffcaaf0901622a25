// Several host threads, each with a stream of its own, launch and wait at the same time; a mutex guards the total.
// OUT: 8 threads, total 36000
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
#include <atomic>
#include <mutex>
#include <thread>

__global__ void add(int* x, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += value;
}

int main() {
  const int threads = 8, n = 1000;
  std::mutex mutex;
  long total = 0;
  std::atomic<int> failures{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      hipStream_t stream;
      int* x = nullptr;
      std::vector<int> host(n);
      if (hipStreamCreate(&stream) != hipSuccess || hipMalloc(&x, n * sizeof(int)) != hipSuccess) ++failures;
      if (hipMemsetAsync(x, 0, n * sizeof(int), stream) != hipSuccess) ++failures;
      for (int k = 0; k <= t; ++k) add<<<4, 256, 0, stream>>>(x, 1, n);
      if (hipMemcpyAsync(host.data(), x, n * sizeof(int), hipMemcpyDeviceToHost, stream) != hipSuccess) ++failures;
      if (hipStreamSynchronize(stream) != hipSuccess) ++failures;
      // An error belongs to its own thread.
      if (t == 3 && hipSetDevice(77) == hipSuccess) ++failures;
      if ((hipPeekAtLastError() != hipSuccess) != (t == 3)) ++failures;
      std::lock_guard<std::mutex> lock(mutex);
      for (int v : host) total += v;
      if (hipFree(x) != hipSuccess || hipStreamDestroy(stream) != hipSuccess) ++failures;
    });
  }
  for (auto& thread : all) thread.join();
  std::printf("%d threads, total %ld\n", threads, total);
  return failures;
}
