// An exception that nobody catches ends the program by SIGABRT, with the message of the C++ library.
// EXIT: -6
// OUT: flushed
// ERR: uncaught exception of type std::runtime_error: nobody catches this
#include <hip/hip_runtime.h>

#include <iostream>
#include <stdexcept>

__global__ void nothing() {}

int main() {
  nothing<<<1, 1>>>();
  std::cout << "flushed" << std::endl;
  if (hipDeviceSynchronize() == hipSuccess) throw std::runtime_error("nobody catches this");
  return 0;
}
