// Read-modify-write functions. The plain names act at device scope, _block at block scope, _system across devices
// and host; all of them are relaxed: they order nothing but themselves. Each returns the value that was there before.
#pragma once

#define __GPULAB_ATOMIC__(name, suffix, scope, type, operation)                                        \
  __GPULAB_FUNCTION__ type name##suffix(type* address, type value) {                                   \
    return operation(address, value, __ATOMIC_RELAXED, scope);                                         \
  }
#define __GPULAB_ATOMIC_SCOPES__(name, type, operation)                                                \
  __GPULAB_ATOMIC__(name, , __HIP_MEMORY_SCOPE_AGENT, type, operation)                                 \
  __GPULAB_ATOMIC__(name, _block, __HIP_MEMORY_SCOPE_WORKGROUP, type, operation)                       \
  __GPULAB_ATOMIC__(name, _system, __HIP_MEMORY_SCOPE_SYSTEM, type, operation)

__GPULAB_ATOMIC_SCOPES__(atomicAdd, int, __hip_atomic_fetch_add)
__GPULAB_ATOMIC_SCOPES__(atomicAdd, unsigned int, __hip_atomic_fetch_add)
__GPULAB_ATOMIC_SCOPES__(atomicAdd, unsigned long, __hip_atomic_fetch_add)
__GPULAB_ATOMIC_SCOPES__(atomicAdd, unsigned long long, __hip_atomic_fetch_add)
__GPULAB_ATOMIC_SCOPES__(atomicAdd, float, __hip_atomic_fetch_add)
__GPULAB_ATOMIC_SCOPES__(atomicAdd, double, __hip_atomic_fetch_add)

#define __GPULAB_SUBTRACT__(address, value, order, scope) __hip_atomic_fetch_add(address, -(value), order, scope)
__GPULAB_ATOMIC_SCOPES__(atomicSub, int, __GPULAB_SUBTRACT__)
__GPULAB_ATOMIC_SCOPES__(atomicSub, unsigned int, __GPULAB_SUBTRACT__)
__GPULAB_ATOMIC_SCOPES__(atomicSub, unsigned long, __GPULAB_SUBTRACT__)
__GPULAB_ATOMIC_SCOPES__(atomicSub, unsigned long long, __GPULAB_SUBTRACT__)
__GPULAB_ATOMIC_SCOPES__(atomicSub, float, __GPULAB_SUBTRACT__)
__GPULAB_ATOMIC_SCOPES__(atomicSub, double, __GPULAB_SUBTRACT__)

__GPULAB_ATOMIC_SCOPES__(atomicExch, int, __hip_atomic_exchange)
__GPULAB_ATOMIC_SCOPES__(atomicExch, unsigned int, __hip_atomic_exchange)
__GPULAB_ATOMIC_SCOPES__(atomicExch, unsigned long, __hip_atomic_exchange)
__GPULAB_ATOMIC_SCOPES__(atomicExch, unsigned long long, __hip_atomic_exchange)
__GPULAB_ATOMIC_SCOPES__(atomicExch, float, __hip_atomic_exchange)
__GPULAB_ATOMIC_SCOPES__(atomicExch, double, __hip_atomic_exchange)

#define __GPULAB_ATOMIC_INTEGERS__(name, operation)                   \
  __GPULAB_ATOMIC_SCOPES__(name, int, operation)                      \
  __GPULAB_ATOMIC_SCOPES__(name, unsigned int, operation)             \
  __GPULAB_ATOMIC_SCOPES__(name, unsigned long, operation)            \
  __GPULAB_ATOMIC_SCOPES__(name, unsigned long long, operation)
__GPULAB_ATOMIC_INTEGERS__(atomicMin, __hip_atomic_fetch_min)
__GPULAB_ATOMIC_INTEGERS__(atomicMax, __hip_atomic_fetch_max)
__GPULAB_ATOMIC_INTEGERS__(atomicAnd, __hip_atomic_fetch_and)
__GPULAB_ATOMIC_INTEGERS__(atomicOr, __hip_atomic_fetch_or)
__GPULAB_ATOMIC_INTEGERS__(atomicXor, __hip_atomic_fetch_xor)
__GPULAB_ATOMIC_SCOPES__(atomicMin, long long, __hip_atomic_fetch_min)
__GPULAB_ATOMIC_SCOPES__(atomicMax, long long, __hip_atomic_fetch_max)
__GPULAB_ATOMIC_SCOPES__(atomicMin, float, __hip_atomic_fetch_min)
__GPULAB_ATOMIC_SCOPES__(atomicMax, float, __hip_atomic_fetch_max)
__GPULAB_ATOMIC_SCOPES__(atomicMin, double, __hip_atomic_fetch_min)
__GPULAB_ATOMIC_SCOPES__(atomicMax, double, __hip_atomic_fetch_max)

// Compare and swap: stores value if the content equals compare.
#define __GPULAB_CAS__(suffix, scope, type)                                                                       \
  __GPULAB_FUNCTION__ type atomicCAS##suffix(type* address, type compare, type value) {                           \
    __hip_atomic_compare_exchange_strong(address, &compare, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope);    \
    return compare;                                                                                               \
  }
#define __GPULAB_CAS_SCOPES__(type)                          \
  __GPULAB_CAS__(, __HIP_MEMORY_SCOPE_AGENT, type)           \
  __GPULAB_CAS__(_block, __HIP_MEMORY_SCOPE_WORKGROUP, type) \
  __GPULAB_CAS__(_system, __HIP_MEMORY_SCOPE_SYSTEM, type)
__GPULAB_CAS_SCOPES__(int)
__GPULAB_CAS_SCOPES__(unsigned int)
__GPULAB_CAS_SCOPES__(unsigned long)
__GPULAB_CAS_SCOPES__(unsigned long long)
__GPULAB_CAS_SCOPES__(unsigned short)
__GPULAB_CAS_SCOPES__(float)
__GPULAB_CAS_SCOPES__(double)

// atomicInc: old >= limit ? 0 : old + 1.  atomicDec: old == 0 || old > limit ? limit : old - 1.
#define __GPULAB_WRAP__(suffix, scope)                                                              \
  __GPULAB_FUNCTION__ unsigned int atomicInc##suffix(unsigned int* address, unsigned int limit) {   \
    return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, scope);                  \
  }                                                                                                 \
  __GPULAB_FUNCTION__ unsigned int atomicDec##suffix(unsigned int* address, unsigned int limit) {   \
    return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, scope);                  \
  }
__GPULAB_WRAP__(, "agent")
__GPULAB_WRAP__(_block, "workgroup")
__GPULAB_WRAP__(_system, "")

// unsafeAtomicAdd allows the hardware's own floating-point atomic wherever it has one (it may be wrong on memory
// that the host shares at fine grain); safeAtomicAdd is right on any memory.
__GPULAB_FUNCTION__ float unsafeAtomicAdd(float* address, float value) {
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
__GPULAB_FUNCTION__ double unsafeAtomicAdd(double* address, double value) {
  [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {
    return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
#define __GPULAB_UNSAFE_LIMIT__(name, type, operation)                                                    \
  __GPULAB_FUNCTION__ type name(type* address, type value) {                                              \
    [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] {                   \
      return operation(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                       \
    }                                                                                                     \
  }
__GPULAB_UNSAFE_LIMIT__(unsafeAtomicMin, float, __hip_atomic_fetch_min)
__GPULAB_UNSAFE_LIMIT__(unsafeAtomicMax, float, __hip_atomic_fetch_max)
__GPULAB_UNSAFE_LIMIT__(unsafeAtomicMin, double, __hip_atomic_fetch_min)
__GPULAB_UNSAFE_LIMIT__(unsafeAtomicMax, double, __hip_atomic_fetch_max)
#define __GPULAB_SAFE__(name, type, operation)                                                            \
  __GPULAB_FUNCTION__ type name(type* address, type value) {                                              \
    [[clang::atomic(remote_memory, fine_grained_memory, no_ignore_denormal_mode)]] {                      \
      return operation(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);                       \
    }                                                                                                     \
  }
__GPULAB_SAFE__(safeAtomicAdd, float, __hip_atomic_fetch_add)
__GPULAB_SAFE__(safeAtomicAdd, double, __hip_atomic_fetch_add)
__GPULAB_SAFE__(safeAtomicMin, float, __hip_atomic_fetch_min)
__GPULAB_SAFE__(safeAtomicMax, float, __hip_atomic_fetch_max)
__GPULAB_SAFE__(safeAtomicMin, double, __hip_atomic_fetch_min)
__GPULAB_SAFE__(safeAtomicMax, double, __hip_atomic_fetch_max)
__GPULAB_FUNCTION__ void atomicAddNoRet(float* address, float value) { unsafeAtomicAdd(address, value); }

#undef __GPULAB_ATOMIC__
#undef __GPULAB_ATOMIC_SCOPES__
#undef __GPULAB_ATOMIC_INTEGERS__
#undef __GPULAB_SUBTRACT__
#undef __GPULAB_CAS__
#undef __GPULAB_CAS_SCOPES__
#undef __GPULAB_WRAP__
#undef __GPULAB_UNSAFE_LIMIT__
#undef __GPULAB_SAFE__
