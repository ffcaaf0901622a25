// OUT: the parent sees 1 + 2 * 999 = 1999
// OUT: the child's own handle: hipErrorInvalidContext
// OUT: of the pool: 3 + 5 * 999 = 4998
// OUT: the child's: no new memory hipErrorInvalidValue, freed hipSuccess, freed again hipErrorInvalidValue
// OUT: of what was mapped: 7 + 3 + 5 * 999 = 5005
// ERR: hipFreeAsync returned hipErrorInvalidValue: nothing is allocated at 0x
//
// Two processes use the same device memory, by way of a handle that goes through a pipe; and what comes from a pool, by way of
// the pool's descriptor, which the child inherits, and of data about the pointer; and memory that both have mapped, by way of
// its descriptor, which the child finds among its parent's.
#include <hip/hip_runtime.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#define CHECK(call) if (hipError_t code = (call); code != hipSuccess) { printf("%d: %s\n", __LINE__, hipGetErrorName(code)); return 1; }

__global__ void number(int* a) { a[threadIdx.x + blockIdx.x * blockDim.x] = threadIdx.x + blockIdx.x * blockDim.x; }
__global__ void change(int* a) { a[threadIdx.x + blockIdx.x * blockDim.x] = 1 + 2 * a[threadIdx.x + blockIdx.x * blockDim.x]; }

__global__ void times(int* a) { a[threadIdx.x + blockIdx.x * blockDim.x] = 3 + 5 * (threadIdx.x + blockIdx.x * blockDim.x); }

// The exporter's side if there is a child, else the importer's.
int pools(pid_t child, hipMemPool_t pool, int shared, int* there, int* back) {
  int* a;
  hipMemPoolPtrExportData data;
  int codes[3], result = 0;
  if (child) {
    CHECK(hipMallocFromPoolAsync(&a, 1000 * sizeof(int), pool, nullptr));
    CHECK(hipMemPoolExportPointer(&data, a));
    if (write(there[1], &data, sizeof data) != sizeof data || read(back[0], codes, sizeof codes) != sizeof codes) return 2;
    CHECK(hipMemcpy(&result, a + 999, sizeof result, hipMemcpyDeviceToHost));
    printf("of the pool: 3 + 5 * 999 = %d\n", result);
    auto name = [&](int i) { return hipGetErrorName(static_cast<hipError_t>(codes[i])); };
    printf("the child's: no new memory %s, freed %s, freed again %s\n", name(0), name(1), name(2));
    CHECK(hipFreeAsync(a, nullptr));
    CHECK(hipMemPoolDestroy(pool));
    return 0;
  }
  hipMemPool_t imported;
  CHECK(hipMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(shared)),
                                            hipMemHandleTypePosixFileDescriptor, 0));
  if (read(there[0], &data, sizeof data) != sizeof data) return 2;
  codes[0] = hipMallocFromPoolAsync(&a, 64, imported, nullptr);
  CHECK(hipMemPoolImportPointer(reinterpret_cast<void**>(&a), imported, &data));
  times<<<4, 250>>>(a);
  CHECK(hipDeviceSynchronize());
  codes[1] = hipFreeAsync(a, nullptr);
  codes[2] = hipFreeAsync(a, nullptr);
  return write(back[1], codes, sizeof codes) != sizeof codes;
}

__global__ void seven(int* a) { a[threadIdx.x + blockIdx.x * blockDim.x] += 7; }

// The creator's side if there is a child, else the importer's.
int mapped(pid_t child, int* there, int* back) {
  size_t size = 2 << 20;
  int *a, result = 0, number = -1;
  char done = 0, path[64];
  hipMemGenericAllocationHandle_t memory;
  hipMemAllocationProp kind{};
  kind.type = hipMemAllocationTypePinned;
  kind.requestedHandleTypes = hipMemHandleTypePosixFileDescriptor;
  kind.location.type = hipMemLocationTypeDevice;
  if (child) {
    CHECK(hipMemCreate(&memory, size, &kind, 0));
    CHECK(hipMemExportToShareableHandle(&number, memory, hipMemHandleTypePosixFileDescriptor, 0));
  } else {
    if (read(there[0], &number, sizeof number) != sizeof number) return 2;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getppid(), number);
    number = open(path, O_RDWR);
    CHECK(hipMemImportFromShareableHandle(&memory, reinterpret_cast<void*>(static_cast<intptr_t>(number)),
                                          hipMemHandleTypePosixFileDescriptor));
  }
  hipMemAccessDesc access{};
  access.location = kind.location;
  access.flags = hipMemAccessFlagsProtReadWrite;
  CHECK(hipMemAddressReserve(reinterpret_cast<void**>(&a), size, 0, nullptr, 0));
  CHECK(hipMemMap(a, size, 0, memory, 0));
  CHECK(hipMemSetAccess(a, size, &access, 1));
  if (child) {
    times<<<4, 250>>>(a);
    CHECK(hipDeviceSynchronize());
    if (write(there[1], &number, sizeof number) != sizeof number || read(back[0], &done, 1) != 1) return 3;
    CHECK(hipMemcpy(&result, a + 999, sizeof result, hipMemcpyDeviceToHost));
    printf("of what was mapped: 7 + 3 + 5 * 999 = %d\n", result);
  } else {
    seven<<<4, 250>>>(a);
    CHECK(hipDeviceSynchronize());
    if (write(back[1], &done, 1) != 1) return 4;
  }
  CHECK(hipMemUnmap(a, size));
  CHECK(hipMemRelease(memory));
  CHECK(hipMemAddressFree(a, size));
  return close(number);
}

int main() {
  int shared;
  hipMemPool_t pool;
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.handleTypes = hipMemHandleTypePosixFileDescriptor;
  properties.location.type = hipMemLocationTypeDevice;
  CHECK(hipMemPoolCreate(&pool, &properties));
  CHECK(hipMemPoolExportToShareableHandle(&shared, pool, hipMemHandleTypePosixFileDescriptor, 0));
  int there[2], back[2];
  if (pipe(there) || pipe(back)) return 2;
  pid_t child = fork();
  if (child == 0) {
    hipIpcMemHandle_t handle;
    hipIpcEventHandle_t over;
    if (read(there[0], &handle, sizeof handle) != sizeof handle || read(there[0], &over, sizeof over) != sizeof over) _exit(3);
    int *a, *mine;
    hipEvent_t event;
    if (hipIpcOpenEventHandle(&event, over) != hipSuccess || hipEventSynchronize(event) != hipSuccess) _exit(7);
    if (hipIpcOpenMemHandle(reinterpret_cast<void**>(&a), handle, hipIpcMemLazyEnablePeerAccess) != hipSuccess) _exit(4);
    change<<<4, 250>>>(a);
    if (hipDeviceSynchronize() != hipSuccess) _exit(5);
    if (hipIpcCloseMemHandle(a) != hipSuccess || hipMalloc(&mine, 64) != hipSuccess) _exit(6);
    hipIpcMemHandle_t own;
    int code = hipIpcGetMemHandle(&own, mine);
    if (!code) code = hipIpcOpenMemHandle(reinterpret_cast<void**>(&a), own, hipIpcMemLazyEnablePeerAccess);
    if (write(back[1], &code, sizeof code) != sizeof code) _exit(8);
    int failed = pools(0, nullptr, shared, there, back);
    _exit(failed ? failed : mapped(0, there, back));
  }
  int *a, result = 0;
  CHECK(hipMalloc(&a, 1000 * sizeof(int)));
  number<<<4, 250>>>(a);
  CHECK(hipDeviceSynchronize());
  hipEvent_t event;
  CHECK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
  CHECK(hipEventRecord(event));
  hipIpcMemHandle_t handle;
  hipIpcEventHandle_t over;
  CHECK(hipIpcGetMemHandle(&handle, a));
  CHECK(hipIpcGetEventHandle(&over, event));
  if (write(there[1], &handle, sizeof handle) != sizeof handle || write(there[1], &over, sizeof over) != sizeof over) return 3;
  int status = 0, code = 0;
  if (read(back[0], &code, sizeof code) != sizeof code) return 4;
  CHECK(hipMemcpy(&result, a + 999, sizeof result, hipMemcpyDeviceToHost));
  printf("the parent sees 1 + 2 * 999 = %d\n", result);
  printf("the child's own handle: %s\n", hipGetErrorName(static_cast<hipError_t>(code)));
  CHECK(hipFree(a));
  int ended = pools(child, pool, shared, there, back);
  if (!ended) ended = mapped(child, there, back);
  waitpid(child, &status, 0);
  if (status) printf("the child ended with %d\n", WEXITSTATUS(status));
  return ended;
}
