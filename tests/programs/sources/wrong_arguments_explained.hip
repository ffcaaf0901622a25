// Launches, copies and frees that are refused say why, also where the program does not ask.
// OUT: invalid argument
// OUT: done
// ERR: hipLaunchKernel returned hipErrorInvalidConfiguration: a block has at most 1,024 threads; 2000 x 1 x 1 are 2,000.
// ERR: hipLaunchKernel returned hipErrorInvalidConfiguration: a size of 0: grid (0, 1, 1), block (64, 1, 1).
// ERR: hipMemcpy returned hipErrorInvalidValue: 800 bytes from 0x
// ERR: go past the end of an allocation of 400 bytes.
// ERR: hipMemcpy returned hipErrorInvalidValue: the target is a null pointer.
// ERR: hipFree returned hipErrorInvalidValue: nothing is allocated at 0x
// ERR: (-20 as a signed number: is a size below zero?), and
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void nothing(int* x) {}

int main() {
  int *x = nullptr, *y = nullptr, host[200];
  int n = -5;
  (void)hipMalloc(&x, 400);
  nothing<<<1, 2000>>>(x);
  nothing<<<0, 64>>>(x);
  (void)hipGetLastError();
  std::puts(hipGetErrorString(hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost)));
  (void)hipMemcpy(nullptr, x, 4, hipMemcpyDeviceToHost);
  (void)hipFree(x);
  (void)hipFree(x);
  (void)hipMalloc(&y, n * sizeof(int));
  unsigned asked;  // an error is an answer here, and nothing is said
  if (hipPointerGetAttribute(&asked, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, &n) != hipSuccess) (void)hipGetLastError();
  std::puts("done");
}
