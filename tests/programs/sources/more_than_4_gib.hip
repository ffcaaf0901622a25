// More than 4 GiB of memory, of which little is used: device, pinned and managed memory, copies, faults with their place.
// OUT: device 3 3 3 3
// OUT: pinned 7 managed 9
// OUT: gather 5
// OUT: fault 700
// ERR: write of 4 bytes at address
// ERR: of an allocation of 1,610,612,736 bytes
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstring>

#define CHECK(call) if (hipError_t e = (call)) { std::printf("%s: %s\n", #call, hipGetErrorString(e)); return 1; }

constexpr size_t BYTES = 3ull << 29, N = BYTES / 4;

__global__ void set(int* to, size_t at, int value) { to[at + threadIdx.x] = value; }
__global__ void gather(int** from, int* to) { to[threadIdx.x] = *from[threadIdx.x]; }

int main() {
  int *part[3], *pinned, *managed, back[4], **places, *found;
  for (int*& p : part) CHECK(hipMalloc(reinterpret_cast<void**>(&p), BYTES));
  CHECK(hipHostMalloc(reinterpret_cast<void**>(&pinned), 1 << 20, 0));
  CHECK(hipMallocManaged(reinterpret_cast<void**>(&managed), 1 << 20));
  size_t free_bytes = 0, total = 0;
  CHECK(hipMemGetInfo(&free_bytes, &total));
  std::printf("device");
  for (int i = 0; i < 4; i++) {
    int* p = part[i % 3];
    size_t at = i == 3 ? N - 64 : N / 2;
    set<<<1, 64>>>(p, at, 1);
    CHECK(hipMemsetD32(p + at + 1, 3, 62));
    CHECK(hipMemcpy(back + i, p + at + 62, 4, hipMemcpyDeviceToHost));
    std::printf(" %d", back[i]);
  }
  set<<<1, 64>>>(pinned, 100, 7);
  set<<<1, 64>>>(managed, 100, 9);
  CHECK(hipDeviceSynchronize());
  std::printf("\npinned %d managed %d\n", pinned[163], managed[163]);
  CHECK(hipMalloc(reinterpret_cast<void**>(&places), 64 * sizeof(int*)));
  CHECK(hipMalloc(reinterpret_cast<void**>(&found), 64 * sizeof(int)));
  int* given[64];  // lanes that read from all three
  for (int i = 0; i < 64; i++) given[i] = part[i % 3] + N / 2 + 1;
  CHECK(hipMemcpy(places, given, sizeof given, hipMemcpyHostToDevice));
  set<<<1, 64>>>(part[2], N / 2, 5);
  gather<<<1, 32>>>(places, found);
  CHECK(hipMemcpy(back, found + 2, 4, hipMemcpyDeviceToHost));
  std::printf("gather %d\n", back[0]);
  set<<<1, 64>>>(part[2], N - 63, 1);
  std::printf("fault %d\n", static_cast<int>(hipDeviceSynchronize()));
}
