// An inclusive scan over many blocks in three kernels: blocks, their sums, and adding them.
// OUT: scanned 100000 values
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

constexpr int threads = 256;

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int a[2][threads];
  int i = blockIdx.x * threads + threadIdx.x, which = 0;
  a[0][threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < threads; step *= 2) {
    int value = a[which][threadIdx.x];
    if (threadIdx.x >= step) value += a[which][threadIdx.x - step];
    which = 1 - which;
    a[which][threadIdx.x] = value;
    __syncthreads();
  }
  if (i < n) out[i] = a[which][threadIdx.x];
  if (threadIdx.x == threads - 1) sums[blockIdx.x] = a[which][threads - 1];
}
__global__ void add_before(int* out, const int* scanned, int n) {
  int i = blockIdx.x * threads + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += scanned[blockIdx.x - 1];
}

void scan(const int* in, int* out, int n) {
  int blocks = (n + threads - 1) / threads;
  int *sums, *scanned;
  CHECK(hipMalloc(&sums, blocks * sizeof(int)));
  scan_blocks<<<blocks, threads>>>(in, out, sums, n);
  if (blocks > 1) {
    CHECK(hipMalloc(&scanned, blocks * sizeof(int)));
    scan(sums, scanned, blocks);
    add_before<<<blocks, threads>>>(out, scanned, n);
    CHECK(hipFree(scanned));
  }
  CHECK(hipFree(sums));
}

int main() {
  const int n = 100000;
  std::vector<int> host(n), expected(n), found(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 7919) % 23 - 11;
  std::partial_sum(host.begin(), host.end(), expected.begin());
  int *in, *out;
  CHECK(hipMalloc(&in, n * sizeof(int)));
  CHECK(hipMalloc(&out, n * sizeof(int)));
  CHECK(hipMemcpy(in, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
  scan(in, out, n);
  CHECK(hipMemcpy(found.data(), out, n * sizeof(int), hipMemcpyDeviceToHost));
  if (found != expected) return 1;
  std::printf("scanned %d values\n", n);
  CHECK(hipFree(in));
  CHECK(hipFree(out));
}
