// OUT: grown to 3 pieces of 2 MiB: 1572864 elements are right
// OUT: the same memory at another address: 524288 elements are right
// OUT: kernels fault without access: hipErrorIllegalAddress
// OUT: and where nothing is mapped: hipErrorIllegalAddress
// OUT: read only: hipErrorIllegalAddress
// OUT: pools: 40 in use, then 0
// ERR: inside an allocation
// ERR: mapped memory without access
// ERR: hipMemSetAccess
//
// An array that grows in place: addresses for all of it are reserved, memory is mapped as it is needed.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

#define CHECK(call) if (hipError_t code = (call); code != hipSuccess) { printf("%d: %s\n", __LINE__, hipGetErrorName(code)); return 1; }

__global__ void number(int* a, int first, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = first + i;
}
__global__ void reverse(int* a, int n) {  // across all pieces
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    int low = a[i], high = a[n - 1 - i];
    a[i] = high;
    a[n - 1 - i] = low;
  }
}
__global__ void sum(const int* a, int n, unsigned long long* total) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(total, static_cast<unsigned long long>(a[i]));
}

int main() {
  hipMemAllocationProp owner = {};
  owner.type = hipMemAllocationTypePinned;
  owner.location = {hipMemLocationTypeDevice, 0};
  size_t granule;
  CHECK(hipMemGetAllocationGranularity(&granule, &owner, hipMemAllocationGranularityRecommended));
  void* place;
  CHECK(hipMemAddressReserve(&place, 5 * granule, 0, nullptr, 0));
  int* a = static_cast<int*>(place);
  const int each = granule / sizeof(int);
  hipMemAccessDesc all = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  hipMemGenericAllocationHandle_t pieces[3];
  for (int i = 0; i < 3; i++) {
    CHECK(hipMemCreate(&pieces[i], granule, &owner, 0));
    CHECK(hipMemMap(a + i * each, granule, 0, pieces[i], 0));
    CHECK(hipMemSetAccess(a + i * each, granule, &all, 1));
    number<<<each / 256, 256>>>(a + i * each, i * each, each);
  }
  const int n = 3 * each;
  reverse<<<n / 512, 256>>>(a, n);
  std::vector<int> host(n);
  CHECK(hipMemcpy(host.data(), a, n * sizeof(int), hipMemcpyDeviceToHost));
  int right = 0;
  for (int i = 0; i < n; i++) right += host[i] == n - 1 - i;
  printf("grown to 3 pieces of %zu MiB: %d elements are right\n", granule >> 20, right);

  CHECK(hipMemUnmap(a + each, granule));
  CHECK(hipMemMap(a + 4 * each, granule, 0, pieces[1], 0));
  CHECK(hipMemSetAccess(a + 4 * each, granule, &all, 1));
  unsigned long long* total;
  CHECK(hipMallocManaged(&total, sizeof *total));
  *total = 0;
  sum<<<1, 256>>>(a + 4 * each, each, total);
  CHECK(hipDeviceSynchronize());
  unsigned long long wanted = 0;
  for (int i = 0; i < each; i++) wanted += n - 1 - (each + i);
  printf("the same memory at another address: %d elements are right\n", *total == wanted ? each : 0);

  hipMemAccessDesc none = all;
  none.flags = hipMemAccessFlagsProtNone;
  CHECK(hipMemSetAccess(a, granule, &none, 1));
  number<<<1, 64>>>(a, 0, 64);
  printf("kernels fault without access: %s\n", hipGetErrorName(hipDeviceSynchronize()));
  number<<<1, 64>>>(a + each, 0, 64);
  printf("and where nothing is mapped: %s\n", hipGetErrorName(hipDeviceSynchronize()));
  none.flags = hipMemAccessFlagsProtRead;
  CHECK(hipMemSetAccess(a, granule, &none, 1));
  sum<<<1, 256>>>(a, each, total);
  CHECK(hipDeviceSynchronize());
  number<<<1, 64>>>(a, 0, 64);
  printf("read only: %s\n", hipGetErrorName(hipDeviceSynchronize()));
  CHECK(hipMemUnmap(a, granule));
  CHECK(hipMemUnmap(a + 2 * each, granule));
  CHECK(hipMemUnmap(a + 4 * each, granule));
  for (auto piece : pieces) CHECK(hipMemRelease(piece));
  CHECK(hipMemAddressFree(place, 5 * granule));

  hipMemPool_t pool;
  hipMemPoolProps properties = {};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, 0};
  CHECK(hipMemPoolCreate(&pool, &properties));
  int* from_pool;
  uint64_t in_use, later;
  CHECK(hipMallocFromPoolAsync(&from_pool, 40, pool, hipStream_t(nullptr)));
  number<<<1, 64>>>(from_pool, 0, 10);
  CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &in_use));
  CHECK(hipFreeAsync(from_pool, nullptr));
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &later));
  printf("pools: %llu in use, then %llu\n", (unsigned long long)in_use, (unsigned long long)later);
  CHECK(hipMemPoolDestroy(pool));
}
