// Two devices: each does half of the work; copies between them, peer access, a kernel of one reading the other's memory.
// OUT[gfx942]: devices of wave size 64 and 32
// OUT[gfx1100]: devices of wave size 32 and 64
// OUT: halves are right
// OUT: peer copy is right
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

__global__ void square(int* x, int first, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (first + i) * (first + i);
}
__global__ void add(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] += a[i];
}

int main() {
  int count;
  CHECK(hipGetDeviceCount(&count));
  if (count != 2) return 2;
  const int half = 5000;
  int waves[2], *x[2];
  std::vector<int> host(2 * half);
  hipStream_t streams[2];
  for (int d = 0; d < 2; ++d) {
    CHECK(hipSetDevice(d));
    CHECK(hipDeviceGetAttribute(&waves[d], hipDeviceAttributeWarpSize, d));
    CHECK(hipStreamCreate(&streams[d]));
    CHECK(hipMalloc(&x[d], half * sizeof(int)));
    square<<<(half + 255) / 256, 256, 0, streams[d]>>>(x[d], d * half, half);
    CHECK(hipMemcpyAsync(&host[d * half], x[d], half * sizeof(int), hipMemcpyDeviceToHost, streams[d]));
  }
  for (int d = 0; d < 2; ++d) CHECK(hipStreamSynchronize(streams[d]));
  std::printf("devices of wave size %d and %d\n", waves[0], waves[1]);
  for (int i = 0; i < 2 * half; ++i)
    if (host[i] != i * i) return 1;
  std::puts("halves are right");
  int can;
  CHECK(hipDeviceCanAccessPeer(&can, 1, 0));
  if (!can) return 3;
  CHECK(hipDeviceEnablePeerAccess(0, 0));
  if (hipDeviceEnablePeerAccess(0, 0) != hipErrorPeerAccessAlreadyEnabled) return 4;
  add<<<(half + 255) / 256, 256>>>(x[0], x[1], half);
  int* back;
  CHECK(hipSetDevice(0));
  CHECK(hipMalloc(&back, half * sizeof(int)));
  CHECK(hipMemcpyPeer(back, 0, x[1], 1, half * sizeof(int)));
  CHECK(hipMemcpy(host.data(), back, half * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < half; ++i)
    if (host[i] != (half + i) * (half + i) + i * i) return 1;
  std::puts("peer copy is right");
}
