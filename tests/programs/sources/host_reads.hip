// OPTIONS: -g
// OUT: kernels, copies, symbols and managed memory work
// OUT: now the host
// ERR: The program's host code reads device memory at 0x20000001200c: host_reads.hip, line 53.
// ERR: That is byte 12 of device memory (16,384 bytes from 0x200000012000).
// ERR: hipMemcpy
// EXIT: -11
//
// Host code may touch managed, pinned and registered memory, and not what hipMalloc gives.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(call) if (hipError_t code = (call); code != hipSuccess) { printf("%s\n", hipGetErrorName(code)); return 1; }

__device__ int steps[4] = {5, 6, 7, 8};
__constant__ int more = 3;
__managed__ int total = 100;

__global__ void number(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = i + steps[i & 3] + more;
  if (i == 0) total += steps[1];
}

int main() {
  int large_bar = 1;
  CHECK(hipDeviceGetAttribute(&large_bar, hipDeviceAttributeIsLargeBar, 0));
  if (large_bar) return 4;
  const int n = 4096;
  int *device, *managed, *pinned, *plain = new int[n];
  CHECK(hipMalloc(&device, n * sizeof(int)));
  CHECK(hipMallocManaged(&managed, n * sizeof(int)));
  CHECK(hipHostMalloc(&pinned, n * sizeof(int)));
  std::vector<int> registered(n);
  CHECK(hipHostRegister(registered.data(), n * sizeof(int), hipHostRegisterDefault));
  int seven = 7, *seen = nullptr;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(more), &seven, sizeof seven));
  CHECK(hipMemset(device, 0xff, n * sizeof(int)));
  void* mapped;
  CHECK(hipHostGetDevicePointer(&mapped, registered.data(), 0));
  for (int* each : {device, managed, pinned, static_cast<int*>(mapped)}) number<<<n / 256, 256>>>(each, n);
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(plain, device, n * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipGetSymbolAddress(reinterpret_cast<void**>(&seen), HIP_SYMBOL(steps)));
  for (int i = 0; i < n; i++)
    for (int* each : {plain, managed, pinned, registered.data()}) if (each[i] != i + 5 + (i & 3) + 7) return 2;
  if (total != 100 + 4 * 6) return 3;
  printf("kernels, copies, symbols and managed memory work\nnow the host\n");
  fflush(stdout);
  memcpy(plain, device + 3, 16);
  printf("%d\n", *seen);
}
