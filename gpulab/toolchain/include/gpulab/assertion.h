// What a failed assert does: each thread prints a line, which begins as HIP's does, then the kernel traps.
#pragma once

namespace gpulab {
__GPULAB_BOTH__ void assertion_failed(const char* condition, const char* file, unsigned int line,
                                      const char* function) {
  ::printf("%s:%u: %s: Device-side assertion `%s' failed. block (%u, %u, %u), thread (%u, %u, %u)\n", file, line,
           function, condition, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
  [[clang::nomerge]] __builtin_trap();  // one trap for each assert, so that the fault names the right line
}
}  // namespace gpulab
