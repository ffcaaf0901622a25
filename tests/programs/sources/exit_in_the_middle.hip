// exit() deep inside, with destructors of static objects and functions registered with atexit.
// EXIT: 5
// OUT: constructed before main
// OUT: in main
// OUT: registered
// OUT: destroyed, 64 bytes freed: no error
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void touch(char* x) { x[threadIdx.x] = 1; }

struct Buffer {
  char* data = nullptr;
  Buffer() {
    if (hipMalloc(&data, 64) == hipSuccess) std::puts("constructed before main");
  }
  ~Buffer() {
    touch<<<1, 64>>>(data);
    std::printf("destroyed, 64 bytes freed: %s\n", hipGetErrorString(hipFree(data)));
  }
};
static Buffer buffer;

static void deep(int n) {
  if (n == 0) std::exit(5);
  deep(n - 1);
}

int main() {
  std::puts("in main");
  std::atexit([] { std::puts("registered"); });
  deep(10);
}
