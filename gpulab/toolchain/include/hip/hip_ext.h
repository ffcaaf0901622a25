// hip/hip_ext.h: AMD's launches that record events before and after the kernel, with the grid in threads.
#pragma once
#include "hip_runtime.h"
#ifdef __GPULAB_PROGRAM__
extern "C" {
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t threads_x, uint32_t threads_y, uint32_t threads_z,
                                    uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t shared_bytes,
                                    hipStream_t stream, void** parameters, void** extra, hipEvent_t start = nullptr,
                                    hipEvent_t stop = nullptr, uint32_t flags = 0);
hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t threads_x, uint32_t threads_y, uint32_t threads_z,
                                    uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t shared_bytes,
                                    hipStream_t stream, void** parameters, void** extra, hipEvent_t start = nullptr,
                                    hipEvent_t stop = nullptr);
}

template <typename... Parameters, typename... Arguments>
static inline void hipExtLaunchKernelGGL(void (*kernel)(Parameters...), const dim3& grid, const dim3& block,
                                         uint32_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                                         uint32_t flags, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
  __gpulab_arguments__<Parameters...> values(std::forward<Arguments>(arguments)...);
  (void)hipExtLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, values.addresses(), shared_bytes, stream,
                           start, stop, static_cast<int>(flags));
}
#endif
