// An image that is no code object is explained where a program loads it.
// OUT: hipErrorInvalidImage
// ERR: gpulab: hipModuleLoadData returned hipErrorInvalidImage: the image is not a 64-bit little-endian ELF file
#include <hip/hip_runtime.h>
#include <cstdio>

int main() {
  char image[256] = "\177ELF\1\1\1";
  hipModule_t module;
  std::printf("%s\n", hipGetErrorName(hipModuleLoadData(&module, image)));
}
