// What kernels print keeps its order with what the host prints: it appears at the next synchronisation.
// OUT: before
// OUT: block 0 says 0.5 and text
// OUT: block 1 says 1.5 and text
// OUT: block 2 says 2.5 and text
// OUT: between
// OUT: 3 + 4 = 7 (0x7, 7.000000e+00)
// OUT: after
#include <hip/hip_runtime.h>

#include <cstdio>
#include <iostream>

__global__ void hello() {
  if (threadIdx.x == 0) printf("block %u says %.1f and %s\n", blockIdx.x, blockIdx.x + 0.5, "text");
}
__global__ void sum(int a, int b) { printf("%d + %d = %d (%#x, %e)\n", a, b, a + b, a + b, double(a + b)); }

int main() {
  std::printf("before\n");
  hello<<<3, 64>>>();
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  std::cout << "between\n";
  sum<<<1, 1>>>(3, 4);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  std::puts("after");
}
