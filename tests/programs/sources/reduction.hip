// A sum over many blocks: strides, LDS, a tree in the block, shuffles in the last wavefront, one atomic per block.
// OUT: sums 1, 1000, 65536, 100003 are right
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

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) sum(const int* in, int n, unsigned long long* out) {
  __shared__ long long part[threads];
  long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int step = threads / 2; step >= warpSize; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x < warpSize) {
    mine = part[threadIdx.x];
    for (int step = warpSize / 2; step > 0; step /= 2) mine += __shfl_down(mine, step);
    if (threadIdx.x == 0) atomicAdd(out, static_cast<unsigned long long>(mine));
  }
}

int main() {
  for (int n : {1, 1000, 65536, 100003}) {
    std::vector<int> host(n);
    long long expected = 0;
    for (int i = 0; i < n; ++i) expected += host[i] = (i * 37) % 1001 - 500;
    int* in;
    unsigned long long *out, found;
    CHECK(hipMalloc(&in, n * sizeof(int)));
    CHECK(hipMalloc(&out, sizeof *out));
    CHECK(hipMemset(out, 0, sizeof *out));
    CHECK(hipMemcpy(in, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
    sum<<<32, threads>>>(in, n, out);
    CHECK(hipMemcpy(&found, out, sizeof found, hipMemcpyDeviceToHost));
    CHECK(hipFree(in));
    CHECK(hipFree(out));
    if (static_cast<long long>(found) != expected) {
      std::printf("%d: %lld, not %lld\n", n, static_cast<long long>(found), expected);
      return 1;
    }
  }
  std::puts("sums 1, 1000, 65536, 100003 are right");
}
