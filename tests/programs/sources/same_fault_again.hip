// A fault that repeats is explained once; assert names the program; a message says why there is no memory.
// OUT: 700 700 700
// OUT: out of memory
// ERR: same_fault_again.hip, line 14
// ERR: the same fault 2 more times in kernel beyond, line 14: out of bounds
// ERR: hipMallocManaged returned hipErrorOutOfMemory: 107,374,182,400 bytes were asked for, and 
// ERR: are free, but all virtual devices of a process share 
// ERR: same_fault_again: same_fault_again.hip:28: int main(): Assertion `result == 0' failed.
// EXIT: -6
#include <hip/hip_runtime.h>
#include <cassert>
#include <cstdio>

__global__ void beyond(int* p, int i) { p[100000 + i] = 1; }

int main() {
  int *p, *q;
  if (hipMalloc(&p, 4) != hipSuccess) return 1;
  for (int i = 0; i < 3; i++) {
    beyond<<<1, 1>>>(p, i);
    std::printf("%d%c", static_cast<int>(hipDeviceSynchronize()), i == 2 ? '\n' : ' ');
  }
  hipError_t error = hipMallocManaged(&q, 100ull << 30);
  std::printf("%s\n", hipGetErrorString(error));
  int result = 0;
  if (error != hipSuccess) result = 1;
  std::fflush(stdout);
  assert(result == 0);
}
