// What programs do about errors: macros, an exception, the last error after a launch.
#include <cuda_runtime.h>
#include <iostream>
#include <stdexcept>
#include <string>

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& where)
      : std::runtime_error(where + ": " + cudaGetErrorName(code)), code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

inline void cudaCheck(cudaError_t code, const char* where) {
  if (code != cudaSuccess) throw CudaError(code, where);
}
#define CUDA_CALL(x) cudaCheck((x), #x)

__global__ void nothing() {}

int main() {
  try {
    void* p = nullptr;
    CUDA_CALL(cudaMalloc(&p, 16));
    CUDA_CALL(cudaFree(p));
    nothing<<<1, 1>>>();
    CUDA_CALL(cudaPeekAtLastError());
    CUDA_CALL(cudaDeviceSynchronize());
    CUDA_CALL(cudaSetDevice(1000));
  } catch (const CudaError& error) {
    std::cout << "caught " << (error.code() == cudaErrorInvalidDevice ? "invalid device" : "another") << std::endl;
  }
  std::cout << (cudaGetLastError() == cudaSuccess ? "clean" : "sticky") << std::endl;
  std::cout << cudaGetErrorString(cudaErrorMemoryAllocation) << std::endl;
  return 0;
}
