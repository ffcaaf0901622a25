// A fault that no HIP call returns, for the program asks nobody after its launch: it is reported when the program ends.
// FAULT: null
// OUT: all is well, says the program
// ERR: null pointer
// ERR: No HIP call of the program has returned this error
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void write(int* x) {
  x[threadIdx.x] = 1;
}

int main() {
  write<<<1, 64>>>(nullptr);
  std::puts("all is well, says the program");
  return 0;
}
