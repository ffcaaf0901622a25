// memcpy, memset and memmove, which the compiler expands; __ldg, which is a plain load on AMD GPUs.
#pragma once
__GPULAB_FUNCTION__ void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
__GPULAB_FUNCTION__ void* memmove(void* to, const void* from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
__GPULAB_FUNCTION__ void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
template <typename T>
__GPULAB_FUNCTION__ T __ldg(const T* address) {
  return *address;
}
