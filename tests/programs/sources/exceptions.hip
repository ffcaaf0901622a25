// Exceptions of the host: thrown through frames with kernels launched, caught by type, rethrown.
// OUT: caught: hipErrorInvalidDevice at 99
// OUT: caught: vector
// OUT: destroyed 2
#include <hip/hip_runtime.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

struct HipError : std::runtime_error {
  hipError_t code;
  HipError(hipError_t code, const std::string& what) : std::runtime_error(hipGetErrorName(code) + what), code(code) {}
};
static int destroyed = 0;
struct Guard {
  void* memory = nullptr;
  Guard() {
    if (hipMalloc(&memory, 128) != hipSuccess) throw std::bad_alloc();
  }
  ~Guard() {
    if (hipFree(memory) == hipSuccess) ++destroyed;
  }
};

static void choose(int device) {
  Guard guard;
  hipError_t error = hipSetDevice(device);
  if (error != hipSuccess) throw HipError(error, " at " + std::to_string(device));
}

int main() {
  try {
    choose(99);
  } catch (const HipError& error) {
    std::cout << "caught: " << error.what() << '\n';
  }
  try {
    try {
      Guard guard;
      (void)std::vector<int>(3).at(10);
    } catch (...) {
      throw;
    }
  } catch (const std::out_of_range& error) {
    std::cout << "caught: " << error.what() << '\n';
  }
  std::cout << "destroyed " << destroyed << std::endl;
}
