// rocPRIM's atomic functions: HIP's, by other names.
#pragma once
#include "../config.hpp"

namespace rocprim {
#define __GPULAB_ATOMIC__(name, function, type) \
  __GPULAB_FUNCTION__ type name(type* address, type value) { return ::function(address, value); }
#define __GPULAB_ATOMICS__(name, function)        \
  __GPULAB_ATOMIC__(name, function, unsigned int) \
  __GPULAB_ATOMIC__(name, function, unsigned long long)
__GPULAB_ATOMICS__(atomic_add, atomicAdd)
__GPULAB_ATOMIC__(atomic_add, atomicAdd, int)
__GPULAB_ATOMIC__(atomic_add, atomicAdd, float)
__GPULAB_ATOMIC__(atomic_add, atomicAdd, double)
__GPULAB_ATOMIC__(atomic_wrapinc, atomicInc, unsigned int)
__GPULAB_ATOMICS__(atomic_max, atomicMax)
__GPULAB_ATOMICS__(atomic_min, atomicMin)
__GPULAB_ATOMICS__(atomic_exch, atomicExch)
#undef __GPULAB_ATOMICS__
#undef __GPULAB_ATOMIC__
__GPULAB_FUNCTION__ unsigned int atomic_cas(unsigned int* address, unsigned int compare, unsigned int value) {
  return ::atomicCAS(address, compare, value);
}
__GPULAB_FUNCTION__ unsigned long long atomic_cas(unsigned long long* address, unsigned long long compare,
                                                  unsigned long long value) {
  return ::atomicCAS(address, compare, value);
}
// The same for unsigned long, which HIP's functions have no overloads of.
__GPULAB_FUNCTION__ unsigned long atomic_add(unsigned long* address, unsigned long value) {
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__GPULAB_FUNCTION__ unsigned long atomic_max(unsigned long* address, unsigned long value) {
  return __hip_atomic_fetch_max(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__GPULAB_FUNCTION__ unsigned long atomic_min(unsigned long* address, unsigned long value) {
  return __hip_atomic_fetch_min(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__GPULAB_FUNCTION__ unsigned long atomic_exch(unsigned long* address, unsigned long value) {
  return __hip_atomic_exchange(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__GPULAB_FUNCTION__ unsigned long atomic_cas(unsigned long* address, unsigned long compare, unsigned long value) {
  __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return compare;
}
// Loads and stores that are whole, without an order.
template <typename T>
__GPULAB_FUNCTION__ T atomic_load(const T* address) {
  return __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T>
__GPULAB_FUNCTION__ void atomic_store(T* address, T value) {
  __hip_atomic_store(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
}  // namespace rocprim
