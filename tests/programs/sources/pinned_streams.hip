// Pinned memory, several streams with copies and kernels in chunks, an event between two streams, callbacks.
// OUT: chunk 0 arrived
// OUT: chunk 1 arrived
// OUT: chunk 2 arrived
// OUT: chunk 3 arrived
// OUT: host function with 42
// OUT: PASSED
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

__global__ void scale(float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

static void arrived(hipStream_t, hipError_t status, void* data) {
  if (status == hipSuccess) std::printf("chunk %d arrived\n", *static_cast<int*>(data));
}

int main() {
  constexpr int chunks = 4, each = 4096, n = chunks * each;
  float *host, *device;
  CHECK(hipHostMalloc(&host, n * sizeof(float), hipHostMallocDefault));
  CHECK(hipMalloc(&device, n * sizeof(float)));
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  hipStream_t streams[chunks];
  int numbers[chunks];
  for (int c = 0; c < chunks; ++c) {
    CHECK(hipStreamCreateWithFlags(&streams[c], hipStreamNonBlocking));
    numbers[c] = c;
    float *from = host + c * each, *to = device + c * each;
    CHECK(hipMemcpyAsync(to, from, each * sizeof(float), hipMemcpyHostToDevice, streams[c]));
    scale<<<each / 256, 256, 0, streams[c]>>>(to, 2.0f, each);
    CHECK(hipMemcpyAsync(from, to, each * sizeof(float), hipMemcpyDeviceToHost, streams[c]));
    CHECK(hipStreamAddCallback(streams[c], arrived, &numbers[c], 0));
  }
  hipEvent_t event;
  CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
  CHECK(hipEventRecord(event, streams[0]));
  CHECK(hipStreamWaitEvent(streams[1], event, 0));
  int value = 42;
  CHECK(hipLaunchHostFunc(streams[1], [](void* p) { std::printf("host function with %d\n", *(int*)p); }, &value));
  for (auto& stream : streams) CHECK(hipStreamSynchronize(stream));
  if (hipStreamQuery(streams[2]) != hipSuccess || hipEventQuery(event) != hipSuccess) return 1;
  for (int i = 0; i < n; ++i)
    if (host[i] != 2.0f * i) return 1;
  for (auto& stream : streams) CHECK(hipStreamDestroy(stream));
  CHECK(hipEventDestroy(event));
  CHECK(hipFree(device));
  CHECK(hipHostFree(host));
  std::puts("PASSED");
}
