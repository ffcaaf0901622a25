// hipCUB's functions for single instructions and for lanes. They keep CUB's names; there is no PTX here.
#pragma once
#include "../gpulab/primitives/group.h"
#include "config.hpp"

namespace hipcub {
__GPULAB_FUNCTION__ unsigned int LaneId() { return ::gpulab::primitives::lane_index(); }
__GPULAB_FUNCTION__ int RowMajorTid(int x, int y, int) {
  return static_cast<int>((threadIdx.z * static_cast<unsigned int>(y) + threadIdx.y) * static_cast<unsigned int>(x) +
                          threadIdx.x);
}
__GPULAB_FUNCTION__ unsigned int WarpId() {
  return ((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) / ::gpulab::primitives::wave_size;
}
__GPULAB_FUNCTION__ uint64_t LaneMaskLt() { return (uint64_t(1) << LaneId()) - 1; }
__GPULAB_FUNCTION__ uint64_t LaneMaskLe() { return (uint64_t(2) << LaneId()) - 1; }
__GPULAB_FUNCTION__ uint64_t LaneMaskGt() { return ~LaneMaskLe(); }
__GPULAB_FUNCTION__ uint64_t LaneMaskGe() { return ~LaneMaskLt(); }

// The lanes of a logical warp; where several make a wave, those of the warp with this number.
template <int LOGICAL_WARP_THREADS>
__GPULAB_FUNCTION__ uint64_t WarpMask(unsigned int warp) {
  constexpr unsigned int threads = LOGICAL_WARP_THREADS;
  constexpr uint64_t lanes = threads >= 64 ? ~uint64_t(0) : (uint64_t(1) << threads % 64) - 1;
  return (threads & (threads - 1)) == 0 && threads < ::gpulab::primitives::wave_size ? lanes << warp * threads : lanes;
}

// Bits start to start + count - 1 of the source.
template <typename Bits>
__GPULAB_FUNCTION__ unsigned int BFE(Bits source, unsigned int start, unsigned int count) {
  unsigned int mask = count >= 32 ? ~0u : (1u << count) - 1u;
  return static_cast<unsigned int>(source >> start) & mask;
}
// y's low bits in x's place.
__GPULAB_FUNCTION__ void BFI(unsigned int& result, unsigned int x, unsigned int y, unsigned int start,
                             unsigned int count) {
  unsigned int mask = (count >= 32 ? ~0u : (1u << count) - 1u) << start;
  result = (x & ~mask) | ((y << start) & mask);
}
__GPULAB_FUNCTION__ unsigned int SHR_ADD(unsigned int x, unsigned int shift, unsigned int addend) {
  return (x >> shift) + addend;
}
__GPULAB_FUNCTION__ unsigned int SHL_ADD(unsigned int x, unsigned int shift, unsigned int addend) {
  return (x << shift) + addend;
}
__GPULAB_FUNCTION__ unsigned int IADD3(unsigned int x, unsigned int y, unsigned int z) { return x + y + z; }
// Four of the eight bytes of b:a (a has bytes 0 to 3), one for each nibble of the index.
__GPULAB_FUNCTION__ int PRMT(unsigned int a, unsigned int b, unsigned int index) {
  uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  unsigned int made = 0;
  for (unsigned int i = 0; i < 4; ++i) {
    made |= static_cast<unsigned int>(bytes >> 8 * (index >> 4 * i & 7) & 255) << 8 * i;
  }
  return static_cast<int>(made);
}
__GPULAB_FUNCTION__ __attribute__((convergent)) void CTA_SYNC() { __syncthreads(); }
__GPULAB_FUNCTION__ __attribute__((convergent)) int CTA_SYNC_AND(int predicate) { return __syncthreads_and(predicate); }
__GPULAB_FUNCTION__ __attribute__((convergent)) int CTA_SYNC_OR(int predicate) { return __syncthreads_or(predicate); }
__GPULAB_FUNCTION__ __attribute__((convergent)) void WARP_SYNC(unsigned int) { ::gpulab::primitives::wave_sync(); }
__GPULAB_FUNCTION__ __attribute__((convergent)) int WARP_ANY(int predicate, uint64_t) {
  return ::gpulab::primitives::ballot(predicate != 0) != 0;
}
__GPULAB_FUNCTION__ __attribute__((convergent)) int WARP_ALL(int predicate, uint64_t) {
  return ::gpulab::primitives::ballot(predicate == 0) == 0;
}
__GPULAB_FUNCTION__ __attribute__((convergent)) int64_t WARP_BALLOT(int predicate, uint64_t) {
  return static_cast<int64_t>(::gpulab::primitives::ballot(predicate != 0));
}
__GPULAB_FUNCTION__ void ThreadExit() { __builtin_amdgcn_endpgm(); }
__GPULAB_FUNCTION__ void ThreadTrap() { __builtin_trap(); }

// The input of a lane of the same logical warp; where there is none, the lane's own.
template <int LOGICAL_WARP_THREADS, typename T>
__GPULAB_LANES__ T ShuffleUp(__GPULAB_EXCHANGED__ T input, int distance, int first_thread, unsigned int) {
  int index = static_cast<int>(::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>::index());
  int lane = static_cast<int>(LaneId());
  return ::gpulab::primitives::from_lane(
      input, static_cast<unsigned int>(index - distance < first_thread ? lane : lane - distance));
}
template <int LOGICAL_WARP_THREADS, typename T>
__GPULAB_LANES__ T ShuffleDown(__GPULAB_EXCHANGED__ T input, int distance, int last_thread, unsigned int) {
  int index = static_cast<int>(::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>::index());
  int lane = static_cast<int>(LaneId());
  return ::gpulab::primitives::from_lane(
      input, static_cast<unsigned int>(index + distance > last_thread ? lane : lane + distance));
}
template <int LOGICAL_WARP_THREADS, typename T>
__GPULAB_LANES__ T ShuffleIndex(__GPULAB_EXCHANGED__ T input, int source_lane, unsigned int) {
  unsigned int first = LaneId() - ::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>::index();
  return ::gpulab::primitives::from_lane(input, first + static_cast<unsigned int>(source_lane) % LOGICAL_WARP_THREADS);
}
}  // namespace hipcub
