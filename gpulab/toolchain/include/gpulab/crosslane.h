// What the lanes of a wavefront tell each other: votes, shuffles, matches, reductions.
//
// A wavefront has 64 lanes on CDNA and 32 on RDNA, so masks of lanes are 64-bit on both. Shuffles read another
// lane's register (ds_bpermute_b32); within `width` lanes, a power of two.
#pragma once

// The lane's number, and the masks of the lanes below, up to, above, from, at it.
__GPULAB_FUNCTION__ unsigned int __lane_id() {
  if (__builtin_amdgcn_wavefrontsize() == 32) return __builtin_amdgcn_mbcnt_lo(~0u, 0u);
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
__GPULAB_FUNCTION__ uint64_t __lanemask_eq() { return 1ul << __lane_id(); }
__GPULAB_FUNCTION__ uint64_t __lanemask_lt() { return (1ul << __lane_id()) - 1ul; }
__GPULAB_FUNCTION__ uint64_t __lanemask_le() { return ~0ul >> (63 - __lane_id()); }
__GPULAB_FUNCTION__ uint64_t __lanemask_gt() {
  return ~(~0ul >> (63 - __lane_id())) & (~0ul >> (64 - __builtin_amdgcn_wavefrontsize()));
}
__GPULAB_FUNCTION__ uint64_t __lanemask_ge() {
  return ~((1ul << __lane_id()) - 1ul) & (~0ul >> (64 - __builtin_amdgcn_wavefrontsize()));
}

// Votes. Only active lanes count.
#define __GPULAB_LANES__ __GPULAB_FUNCTION__ __attribute__((convergent))
__GPULAB_LANES__ unsigned long long __ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
__GPULAB_LANES__ unsigned long long __ballot64(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
__GPULAB_LANES__ unsigned long long __activemask() { return __builtin_amdgcn_ballot_w64(true); }
__GPULAB_LANES__ int __any(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0) != 0; }
__GPULAB_LANES__ int __all(int predicate) { return __builtin_amdgcn_ballot_w64(predicate == 0) == 0; }

// Barrier of the wavefront: its lanes run in step, so only the order of memory accesses is left to secure.
__GPULAB_LANES__ void __syncwarp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// A value that lanes exchange: some of them may hold none yet. Programs write `int sum; if (lane == 0) sum = ...;
// sum = __shfl(sum, 0);`, and C++ would otherwise let the compiler conclude that lane is always 0.
#define __GPULAB_EXCHANGED__ __attribute__((maybe_undef))

namespace gpulab {

template <typename T>
struct bits {
  union {
    T value;
    int words[(sizeof(T) + 3) / 4];
  };
};

// The value of lane `source` of the wavefront, word by word.
template <typename T>
__GPULAB_LANES__ T from_lane(__GPULAB_EXCHANGED__ T value, int source) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __builtin_amdgcn_ds_bpermute(source << 2, __builtin_bit_cast(int, value)));
  } else {
    bits<T> word;
    word.value = value;
#pragma unroll
    for (unsigned i = 0; i < sizeof(word.words) / 4; ++i)
      word.words[i] = __builtin_amdgcn_ds_bpermute(source << 2, word.words[i]);
    return word.value;
  }
}

template <unsigned size>
struct unsigned_of {
  using type = uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = uint64_t;
};

template <typename Mask>
struct mask_check {
  static_assert(sizeof(Mask) == 8 && (__is_integral(Mask)),
                "the lane mask of a _sync function is 64-bit in HIP (a wavefront has up to 64 lanes): write "
                "0xffffffffffffffffULL for all lanes, or use __activemask(); a 32-bit mask such as 0xffffffff "
                "names only half of a wavefront of 64");
  static constexpr bool ok = true;
};
}  // namespace gpulab

// __GPULAB_LANES__ and __GPULAB_SHUFFLES__ stay defined for the headers of further types.
#define __GPULAB_SHUFFLES__(T)                                                                             \
  __GPULAB_LANES__ T __shfl(__GPULAB_EXCHANGED__ T value, int source, int width = warpSize) {              \
    int self = (int)__lane_id();                                                                           \
    return gpulab::from_lane(value, (source & (width - 1)) + (self & ~(width - 1)));                       \
  }                                                                                                        \
  __GPULAB_LANES__ T __shfl_up(__GPULAB_EXCHANGED__ T value, unsigned int delta, int width = warpSize) {   \
    int self = (int)__lane_id(), source = self - (int)delta;                                               \
    return gpulab::from_lane(value, source < (self & ~(width - 1)) ? self : source);                       \
  }                                                                                                        \
  __GPULAB_LANES__ T __shfl_down(__GPULAB_EXCHANGED__ T value, unsigned int delta, int width = warpSize) { \
    int self = (int)__lane_id(), source = self + (int)delta;                                               \
    return gpulab::from_lane(value, (self & (width - 1)) + (int)delta >= width ? self : source);           \
  }                                                                                                        \
  __GPULAB_LANES__ T __shfl_xor(__GPULAB_EXCHANGED__ T value, int lane_mask, int width = warpSize) {       \
    int self = (int)__lane_id(), source = self ^ lane_mask;                                                \
    return gpulab::from_lane(value, source >= ((self + width) & ~(width - 1)) ? self : source);            \
  }
__GPULAB_SHUFFLES__(int)
__GPULAB_SHUFFLES__(unsigned int)
__GPULAB_SHUFFLES__(long)
__GPULAB_SHUFFLES__(unsigned long)
__GPULAB_SHUFFLES__(long long)
__GPULAB_SHUFFLES__(unsigned long long)
__GPULAB_SHUFFLES__(float)
__GPULAB_SHUFFLES__(double)

// The _sync forms: the mask names the lanes that take part; every one of them has to execute the call.
template <typename M>
__GPULAB_LANES__ void __syncwarp(M mask) {
  static_assert(gpulab::mask_check<M>::ok);
  (void)mask;
  __syncwarp();
}
template <typename M>
__GPULAB_LANES__ unsigned long long __ballot_sync(M mask, int predicate) {
  static_assert(gpulab::mask_check<M>::ok);
  return __ballot(predicate) & mask;
}
template <typename M>
__GPULAB_LANES__ int __any_sync(M mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
template <typename M>
__GPULAB_LANES__ int __all_sync(M mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}
template <typename M, typename T>
__GPULAB_LANES__ T __shfl_sync(M mask, __GPULAB_EXCHANGED__ T value, int source, int width = warpSize) {
  static_assert(gpulab::mask_check<M>::ok);
  (void)mask;
  return __shfl(value, source, width);
}
template <typename M, typename T>
__GPULAB_LANES__ T __shfl_up_sync(M mask, __GPULAB_EXCHANGED__ T value, unsigned int delta, int width = warpSize) {
  static_assert(gpulab::mask_check<M>::ok);
  (void)mask;
  return __shfl_up(value, delta, width);
}
template <typename M, typename T>
__GPULAB_LANES__ T __shfl_down_sync(M mask, __GPULAB_EXCHANGED__ T value, unsigned int delta, int width = warpSize) {
  static_assert(gpulab::mask_check<M>::ok);
  (void)mask;
  return __shfl_down(value, delta, width);
}
template <typename M, typename T>
__GPULAB_LANES__ T __shfl_xor_sync(M mask, __GPULAB_EXCHANGED__ T value, int lane_mask, int width = warpSize) {
  static_assert(gpulab::mask_check<M>::ok);
  (void)mask;
  return __shfl_xor(value, lane_mask, width);
}

// __match_any: the mask of active lanes that hold the same value. One ballot per bit of the value.
template <typename T>
__GPULAB_LANES__ unsigned long long __match_any(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any compares 32-bit or 64-bit values");
  using U = typename gpulab::unsigned_of<sizeof(T)>::type;
  U bits = __builtin_bit_cast(U, value);
  uint64_t same = __activemask();
#pragma unroll 1
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
    uint64_t ones = __builtin_amdgcn_ballot_w64((bits >> i) & 1);
    same &= (bits >> i) & 1 ? ones : ~ones;
  }
  return same;
}
// __match_all: all active lanes if they hold the same value, else 0; `*equal` says which.
template <typename T>
__GPULAB_LANES__ unsigned long long __match_all(T value, int* equal) {
  uint64_t active = __activemask();
  T first = gpulab::from_lane(value, __builtin_ctzll(active));
  using U = typename gpulab::unsigned_of<sizeof(T)>::type;
  *equal = __all(__builtin_bit_cast(U, value) == __builtin_bit_cast(U, first));
  return *equal ? active : 0;
}
template <typename M, typename T>
__GPULAB_LANES__ unsigned long long __match_any_sync(M mask, T value) {
  static_assert(gpulab::mask_check<M>::ok);
  return __match_any(value) & mask;
}
template <typename M, typename T>
__GPULAB_LANES__ unsigned long long __match_all_sync(M mask, __GPULAB_EXCHANGED__ T value, int* equal) {
  static_assert(gpulab::mask_check<M>::ok);
  return __match_all(value, equal) & mask;
}

// __reduce_*_sync: combines the values of the lanes in mask. A full wavefront takes a butterfly of shuffles,
// a partial one takes its lanes in order.
#define __GPULAB_REDUCE__(name, expression)                                                    \
  template <typename M, typename T>                                                            \
  __GPULAB_LANES__ T name(M mask, T value) {                                                   \
    static_assert(gpulab::mask_check<M>::ok);                                                  \
    uint64_t full = ~0ul >> (64 - __builtin_amdgcn_wavefrontsize()), rest = mask & full;       \
    if (rest == full) {                                                                        \
      T a = value;                                                                             \
      for (int step = __builtin_amdgcn_wavefrontsize() / 2; step > 0; step /= 2) {             \
        T b = gpulab::from_lane(a, (int)__lane_id() ^ step);                                   \
        a = (expression);                                                                      \
      }                                                                                        \
      return a;                                                                                \
    }                                                                                          \
    T a = gpulab::from_lane(value, __builtin_ctzll(rest));                                     \
    for (rest &= rest - 1; rest != 0; rest &= rest - 1) {                                      \
      T b = gpulab::from_lane(value, __builtin_ctzll(rest));                                   \
      a = (expression);                                                                        \
    }                                                                                          \
    return a;                                                                                  \
  }
__GPULAB_REDUCE__(__reduce_add_sync, a + b)
__GPULAB_REDUCE__(__reduce_min_sync, b < a ? b : a)
__GPULAB_REDUCE__(__reduce_max_sync, a < b ? b : a)
__GPULAB_REDUCE__(__reduce_and_sync, a & b)
__GPULAB_REDUCE__(__reduce_or_sync, a | b)
__GPULAB_REDUCE__(__reduce_xor_sync, a ^ b)
#undef __GPULAB_REDUCE__

// AMD's own data movement, by instruction name.
__GPULAB_LANES__ int __hip_ds_bpermute(int index, int value) { return __builtin_amdgcn_ds_bpermute(index, value); }
__GPULAB_LANES__ float __hip_ds_bpermutef(int index, float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(index, __builtin_bit_cast(int, value)));
}
__GPULAB_LANES__ int __hip_ds_permute(int index, int value) { return __builtin_amdgcn_ds_permute(index, value); }
__GPULAB_LANES__ float __hip_ds_permutef(int index, float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_permute(index, __builtin_bit_cast(int, value)));
}
template <int pattern>
__GPULAB_LANES__ int __hip_ds_swizzle_N(int value) {
  return __builtin_amdgcn_ds_swizzle(value, pattern);
}
template <int pattern>
__GPULAB_LANES__ float __hip_ds_swizzlef_N(float value) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, value), pattern));
}
#define __hip_ds_swizzlef(value, pattern) __hip_ds_swizzlef_N<(pattern)>((value))
#define __hip_ds_swizzle(value, pattern) __hip_ds_swizzle_N<(pattern)>((value))
template <int control, int row_mask, int bank_mask, bool bound>
__GPULAB_LANES__ int __hip_move_dpp_N(int value) {
  return __builtin_amdgcn_mov_dpp(value, control, row_mask, bank_mask, bound);
}
#define __hip_move_dpp(value, control, row_mask, bank_mask, bound) \
  __hip_move_dpp_N<(control), (row_mask), (bank_mask), (bound)>((value))
