// What a launch prints beyond hipLimitPrintfFifoSize is lost, and a line at its end says so.
// OUT: thread 0
// OUT:
// OUT: [gpulab: 4,096 bytes are full (hipLimitPrintfFifoSize): what this launch printed then is lost.]
// OUT: 1 line that fits
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void talk(int n) {
  for (int i = 0; i < n; i++) printf(i == 0 ? "thread %d\n" : "", threadIdx.x);
}

int main() {
  if (hipDeviceSetLimit(hipLimitPrintfFifoSize, 4096) != hipSuccess) return 1;
  talk<<<1, 1>>>(1000);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  std::puts("1 line that fits");
}
