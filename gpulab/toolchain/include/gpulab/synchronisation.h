// Barriers, fences, clocks and the ways to stop.
#pragma once

// __syncthreads: all threads of the block arrive; what they wrote before is seen by all after.
__GPULAB_FUNCTION__ __attribute__((convergent)) void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

namespace gpulab {
// The linear index of the thread in its block.
__GPULAB_FUNCTION__ uint32_t linear_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
// How many threads of the block pass a true predicate: one LDS atomic per wavefront between barriers.
__GPULAB_FUNCTION__ __attribute__((convergent)) uint32_t block_count_true(bool predicate) {
  static __shared__ uint32_t count;
  if (linear_thread() == 0) count = 0;
  __syncthreads();
  uint64_t mask = __builtin_amdgcn_ballot_w64(predicate);
  uint64_t active = __builtin_amdgcn_ballot_w64(true);
  uint32_t lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  if (lane == (uint32_t)__builtin_ctzll(active))
    __hip_atomic_fetch_add(&count, (uint32_t)__builtin_popcountll(mask), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  uint32_t total = count;
  __syncthreads();
  return total;
}
}  // namespace gpulab

// Barriers that also combine a predicate over the block; every thread gets the same answer.
__GPULAB_FUNCTION__ __attribute__((convergent)) int __syncthreads_count(int predicate) {
  return (int)gpulab::block_count_true(predicate != 0);
}
__GPULAB_FUNCTION__ __attribute__((convergent)) int __syncthreads_and(int predicate) {
  return gpulab::block_count_true(predicate == 0) == 0;
}
__GPULAB_FUNCTION__ __attribute__((convergent)) int __syncthreads_or(int predicate) {
  return gpulab::block_count_true(predicate != 0) != 0;
}

// Fences order this thread's memory accesses as seen by its block, by the device, by the system.
__GPULAB_FUNCTION__ void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
__GPULAB_FUNCTION__ void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
__GPULAB_FUNCTION__ void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

// Clocks. clock64 counts core cycles (20 bits only on RDNA 3, where HIP recommends wall_clock64); wall_clock64
// counts at a constant rate (hipDeviceAttributeWallClockRate).
__GPULAB_FUNCTION__ long long clock64() { return (long long)__builtin_readcyclecounter(); }
__GPULAB_FUNCTION__ long long clock() { return (long long)__builtin_readcyclecounter(); }
__GPULAB_FUNCTION__ long long wall_clock64() { return (long long)__builtin_readsteadycounter(); }

__GPULAB_FUNCTION__ long long __clock64() { return clock64(); }
__GPULAB_FUNCTION__ long long __clock() { return clock64(); }

// The barrier alone, without the fences of __syncthreads.
__GPULAB_FUNCTION__ __attribute__((convergent)) void __named_sync() { __builtin_amdgcn_s_barrier(); }

// The number of the compute unit that the wavefront runs on, made of fields of hardware registers: the XCC and shader
// engine, then the unit within (on RDNA: shader array and WGP). A virtual device has one unit, number 0.
#define __GPULAB_FIELD__(reg, first, bits) __builtin_amdgcn_s_getreg((bits - 1) << 11 | first << 6 | reg)
__GPULAB_FUNCTION__ unsigned int __smid() {
#if defined(__gfx942__) || defined(__gfx950__)
  return (__GPULAB_FIELD__(20, 0, 4) << 2 | __GPULAB_FIELD__(4, 13, 2)) << 4 | __GPULAB_FIELD__(4, 8, 4);
#elif defined(__GFX9__)
  return __GPULAB_FIELD__(4, 13, 3) << 4 | __GPULAB_FIELD__(4, 8, 4);
#elif defined(__GFX12__)
  unsigned int engine = __builtin_amdgcn_s_sendmsg_rtn(0x87) & 15;
  return (engine << 1 | __GPULAB_FIELD__(23, 16, 1)) << 4 | __GPULAB_FIELD__(23, 10, 4);
#elif defined(__GFX11__)
  return (__GPULAB_FIELD__(23, 18, 3) << 1 | __GPULAB_FIELD__(23, 16, 1)) << 4 | __GPULAB_FIELD__(23, 10, 4);
#else
  return (__GPULAB_FIELD__(23, 18, 2) << 1 | __GPULAB_FIELD__(23, 16, 1)) << 4 | __GPULAB_FIELD__(23, 10, 4);
#endif
}
#undef __GPULAB_FIELD__

// Stopping: __builtin_trap ends the kernel with an error that the host sees.
__GPULAB_FUNCTION__ __attribute__((noreturn)) void __trap() { __builtin_trap(); }
__GPULAB_FUNCTION__ __attribute__((noreturn)) void abort() { __builtin_trap(); }

#define __hip_assume(condition) __builtin_assume(condition)
