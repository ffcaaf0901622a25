// assert in a kernel: the thread says what failed and where, and the kernel stops.
// FAULT: trap
// EXIT: 7
// OUT: assert_in_a_kernel.hip:15: void positive(const int *, int): Device-side assertion `x[i] > 0' failed. block (0, 0, 0), thread (5, 0, 0)
// ERR: stopped itself (trap)
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <vector>

__global__ void positive(const int* x, int n) {
  int i = threadIdx.x;
  if (i < n) {
    assert(x[i] > 0);
  }
}

int main() {
  std::vector<int> host(32, 1);
  host[5] = -1;
  int* x;
  assert(hipMalloc(&x, sizeof(int) * host.size()) == hipSuccess);
  assert(hipMemcpy(x, host.data(), sizeof(int) * host.size(), hipMemcpyHostToDevice) == hipSuccess);
  positive<<<1, 32>>>(x, 32);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 7;
}
