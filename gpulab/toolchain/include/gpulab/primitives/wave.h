// What the lanes of a wave do together. A logical warp is `size` neighbouring lanes; `index` is the lane's place in it.
//
// Values of any type move between lanes as words (ds_bpermute); all lanes of a logical warp call these functions.
#pragma once
#include "basics.h"

namespace gpulab {
namespace primitives {

__GPULAB_FUNCTION__ unsigned int lane_index() {
  if constexpr (wave_size == 64) {
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  } else {
    return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
  }
}
// The same value in all lanes, as the compiler then knows.
__GPULAB_FUNCTION__ __attribute__((convergent)) unsigned int uniform(unsigned int value) {
  return __builtin_amdgcn_readfirstlane(value);
}
__GPULAB_FUNCTION__ __attribute__((convergent)) uint64_t uniform(uint64_t value) {
  return static_cast<uint64_t>(uniform(static_cast<unsigned int>(value >> 32))) << 32 |
         uniform(static_cast<unsigned int>(value));
}
// The number of the wave in a block of one dimension.
__GPULAB_FUNCTION__ __attribute__((convergent)) unsigned int wave_index() { return uniform(threadIdx.x / wave_size); }

// Lanes for which it holds, a bit each.
__GPULAB_FUNCTION__ __attribute__((convergent)) uint64_t ballot(bool holds) {
  if constexpr (wave_size == 64) {
    return __builtin_amdgcn_ballot_w64(holds);
  } else {
    return __builtin_amdgcn_ballot_w32(holds);
  }
}
// How many bits of lanes before this one are set.
__GPULAB_FUNCTION__ unsigned int count_before(uint64_t mask) {
  unsigned int low = __builtin_amdgcn_mbcnt_lo(static_cast<unsigned int>(mask), 0u);
  if constexpr (wave_size == 64) {
    return __builtin_amdgcn_mbcnt_hi(static_cast<unsigned int>(mask >> 32), low);
  } else {
    return low;
  }
}
// What lanes of this wave stored is there for its other lanes: the hardware has it in order, the compiler is told.
__GPULAB_FUNCTION__ __attribute__((convergent)) void wave_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

template <typename T, typename Move>
__GPULAB_FUNCTION__ __attribute__((convergent)) T by_words(const T& value, Move move) {
  constexpr unsigned int count = (sizeof(T) + 3) / 4;
  unsigned int words[count];
  words[count - 1] = 0;
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) words[i] = move(words[i]);
  Room<T> moved;
  __builtin_memcpy(&moved, words, sizeof(T));
  return moved.get();
}
// The value of a lane of the wave, which is active.
template <typename T>
__GPULAB_FUNCTION__ __attribute__((convergent)) T from_lane(const T& value, unsigned int lane) {
  return by_words(value, [=](unsigned int word) __attribute__((always_inline, nodebug, convergent)) {
    return static_cast<unsigned int>(__builtin_amdgcn_ds_bpermute(static_cast<int>(lane << 2), static_cast<int>(word)));
  });
}
// The same for a lane that all lanes agree on.
template <typename T>
__GPULAB_FUNCTION__ __attribute__((convergent)) T from_one_lane(const T& value, unsigned int lane) {
  return by_words(value, [=](unsigned int word) __attribute__((always_inline, nodebug, convergent)) {
    return static_cast<unsigned int>(__builtin_amdgcn_readlane(static_cast<int>(word), static_cast<int>(lane)));
  });
}

// value becomes op of the values of lanes 0 to index. Lanes from `valid` on have none; they keep theirs.
template <unsigned int size, typename T, typename Op>
__GPULAB_FUNCTION__ __attribute__((convergent)) void scan_lanes(T& value, unsigned int index, unsigned int valid,
                                                                Op& op) {
  unsigned int lane = lane_index();
#pragma unroll
  for (unsigned int step = 1; step < size; step *= 2) {
    bool takes = index >= step && index < valid;
    T other = from_lane(value, index >= step ? lane - step : lane);
    if (takes) value = op(other, value);
  }
}
// Lane 0 gets op of the values of the first `valid` lanes, in their order; valid is 1 or more.
template <unsigned int size, typename T, typename Op>
__GPULAB_FUNCTION__ __attribute__((convergent)) void reduce_lanes(T& value, unsigned int index, unsigned int valid,
                                                                  Op& op) {
  unsigned int lane = lane_index();
#pragma unroll
  for (unsigned int step = 1; step < size; step *= 2) {
    bool takes = index + step < valid;
    T other = from_lane(value, takes ? lane + step : lane);
    if (takes) value = op(value, other);
  }
}

}  // namespace primitives
}  // namespace gpulab
