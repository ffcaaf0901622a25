// OUT: handled signal 11, device address: yes
// OUT: the handler before was the default: yes
// OUT: handled again: 11
// OUT: kernels still run: 7
// ERR: The program's host code reads device memory at
// ERR: The program's host code writes device memory at
//
// A program's own handler for SIGSEGV is called after the message, and may leave by siglongjmp; sigaction and signal give
// back what the program installed before.
#include <hip/hip_runtime.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>

static sigjmp_buf back;
static void* volatile place;
static volatile int caught;

static void with_place(int number, siginfo_t* info, void*) {
  place = info->si_addr;
  caught = number;
  siglongjmp(back, 1);
}
static void plain(int number) {
  caught = number;
  siglongjmp(back, 1);
}

__global__ void seven(int* x) { *x = 7; }

int main() {
  int* device;
  if (hipMalloc(&device, 64) != hipSuccess) return 2;
  struct sigaction mine = {}, before = {};
  mine.sa_sigaction = with_place;
  mine.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &mine, &before);
  volatile int* touched = device;
  if (sigsetjmp(back, 1) == 0) std::printf("read %d\n", touched[3]);
  std::printf("handled signal %d, device address: %s\n", caught, place == device + 3 ? "yes" : "no");
  std::printf("the handler before was the default: %s\n", before.sa_handler == SIG_DFL ? "yes" : "no");
  caught = 0;
  signal(SIGSEGV, plain);
  if (sigsetjmp(back, 1) == 0) touched[5] = 1;
  std::printf("handled again: %d\n", caught);
  signal(SIGSEGV, SIG_DFL);
  int host = 0;
  seven<<<1, 1>>>(device);
  (void)hipMemcpy(&host, device, sizeof host, hipMemcpyDeviceToHost);
  std::printf("kernels still run: %d\n", host);
}
