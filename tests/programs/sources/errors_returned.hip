// Calls that must fail, with the codes that HIP documents; the last error is kept until it is asked for.
// OUT: hipErrorInvalidValue: invalid argument
// OUT: hipErrorInvalidDevice: invalid device ordinal
// OUT: hipErrorInvalidConfiguration: invalid configuration argument
// OUT: peeked, then taken, then gone
// OUT: hipErrorOutOfMemory: out of memory
// OUT: hipErrorInvalidResourceHandle
// OUT: hipErrorInvalidSymbol: invalid device symbol
// ERR: gpulab: hipMalloc returned hipErrorOutOfMemory: 1,125,899,906,842,624 bytes were asked for
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void nothing() {}

static int not_on_the_device;

static void show(hipError_t error) { std::printf("%s: %s\n", hipGetErrorName(error), hipGetErrorString(error)); }

int main() {
  show(hipMemcpy(nullptr, &not_on_the_device, 4, hipMemcpyHostToDevice));
  show(hipSetDevice(999));
  (void)hipGetLastError();
  nothing<<<1, 2048>>>();
  show(hipPeekAtLastError());
  hipError_t peeked = hipPeekAtLastError(), taken = hipGetLastError(), gone = hipGetLastError();
  if (peeked == taken && taken != hipSuccess && gone == hipSuccess) std::puts("peeked, then taken, then gone");
  void* much = nullptr;
  show(hipMalloc(&much, 1ull << 50));
  hipEvent_t event;
  if (hipEventCreate(&event) != hipSuccess || hipEventDestroy(event) != hipSuccess) return 1;
  if (hipEventRecord(event) == hipErrorInvalidResourceHandle) std::puts("hipErrorInvalidResourceHandle");
  show(hipMemcpyToSymbol(not_on_the_device, &not_on_the_device, sizeof(int)));
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
