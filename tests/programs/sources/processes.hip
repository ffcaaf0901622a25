// OUT: the parent sees 1 + 2 * 999 = 1999
// OUT: the child's own handle: hipErrorInvalidContext
//
// Two processes use the same device memory, by way of a handle that goes through a pipe.
#include <hip/hip_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#define CHECK(call) if (hipError_t code = (call); code != hipSuccess) { printf("%d: %s\n", __LINE__, hipGetErrorName(code)); return 1; }

__global__ void number(int* a) { a[threadIdx.x + blockIdx.x * blockDim.x] = threadIdx.x + blockIdx.x * blockDim.x; }
__global__ void change(int* a) { a[threadIdx.x + blockIdx.x * blockDim.x] = 1 + 2 * a[threadIdx.x + blockIdx.x * blockDim.x]; }

int main() {
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
    _exit(0);
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
  waitpid(child, &status, 0);
  if (status) printf("the child ended with %d\n", WEXITSTATUS(status));
  if (read(back[0], &code, sizeof code) != sizeof code) return 4;
  CHECK(hipMemcpy(&result, a + 999, sizeof result, hipMemcpyDeviceToHost));
  printf("the parent sees 1 + 2 * 999 = %d\n", result);
  printf("the child's own handle: %s\n", hipGetErrorName(static_cast<hipError_t>(code)));
  CHECK(hipFree(a));
}
