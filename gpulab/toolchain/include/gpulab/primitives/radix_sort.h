// Radix sorts of the whole input and of segments: stable, digit by digit from the lowest on.
//
// A pass has three launches. Each wave counts the digits of its part; a wave per digit scans that digit's counts over
// all parts; then each wave goes over its part again and puts each item at its place, which its digit's running count
// gives. Which lanes have the same digit, ballots tell.
#pragma once
#include "keys.h"
#include "launching.h"
#include "operators.h"

namespace gpulab {
namespace primitives {

inline constexpr unsigned int digit_bits = 8;
inline constexpr unsigned int digits = 1u << digit_bits;

// Lanes whose digit is that of this lane, and which take part.
__GPULAB_FUNCTION__ __attribute__((convergent)) uint64_t same_digit(unsigned int digit, unsigned int width,
                                                                    bool valid) {
  uint64_t mask = ballot(valid);
#pragma unroll
  for (unsigned int bit = 0; bit < digit_bits; ++bit) {
    if (bit < width) {
      bool set = (digit >> bit) & 1u;
      uint64_t having = ballot(set);
      mask &= set ? having : ~having;
    }
  }
  return mask;
}

// Adds the digits of a wave's items to its counts, which are in shared memory.
template <typename Digit>
__GPULAB_FUNCTION__ __attribute__((convergent)) void count_digits(unsigned int items, Digit digit,
                                                                  unsigned int* counts) {
  unsigned int lane = lane_index();
#pragma unroll
  for (unsigned int i = 0; i < digits; i += wave_size) counts[i + lane] = 0;
  wave_sync();
#pragma clang loop unroll(disable)
  for (unsigned int i = lane; i < items; i += wave_size) {
    __hip_atomic_fetch_add(&counts[digit(i)], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT);
  }
  wave_sync();
}
// Gives each of a wave's items its place: put(i, place). places[digit] is where the next item with it goes.
template <typename Digit, typename Put>
__GPULAB_FUNCTION__ __attribute__((convergent)) void place_digits(unsigned int items, unsigned int width, Digit digit,
                                                                  Put put, unsigned int* places) {
  unsigned int lane = lane_index();
#pragma clang loop unroll(disable)
  for (unsigned int done = 0; done < items; done += wave_size) {
    bool valid = done + lane < items;
    unsigned int d = valid ? digit(done + lane) : 0;
    uint64_t same = same_digit(d, width, valid);
    unsigned int before = count_before(same), place = places[d] + before;
    wave_sync();
    if (valid) {
      if (before == 0) places[d] += static_cast<unsigned int>(__builtin_popcountll(same));
      put(done + lane, place);
    }
    wave_sync();
  }
}

template <typename T>
inline constexpr bool has_values =
    !__is_same(T, NoValues) && !__is_same(T, NoValues*) && !__is_same(T, const NoValues*);

template <typename Digit, typename Keys>
struct DigitOf {
  Keys keys;
  uint64_t begin;
  unsigned int low, width;
  Digit coder;
  __GPULAB_DEVICE_MEMBER__ unsigned int operator()(unsigned int i) const {
    return coder.digit(at(keys, begin + i), low, width);
  }
};
template <typename Keys, typename KeysOut, typename Values, typename ValuesOut>
struct PutPair {
  Keys keys;
  KeysOut keys_out;
  Values values;
  ValuesOut values_out;
  uint64_t begin, base;
  __GPULAB_DEVICE_MEMBER__ void operator()(unsigned int i, unsigned int place) const {
    at(keys_out, base + place) = at(keys, begin + i);
    if constexpr (has_values<Values>) at(values_out, base + place) = at(values, begin + i);
  }
};

// counts[digit * parts + part] = how many items of the part have the digit.
template <typename Coder, typename Keys>
__global__ __launch_bounds__(block_threads) void radix_count(Parts parts, Keys keys, Coder coder, unsigned int low,
                                                             unsigned int width, unsigned int* counts) {
  __shared__ unsigned int mine[4][digits];
  Part part;
  if (!next_part(parts, part)) return;
  unsigned int* own = mine[wave_index()];
  count_digits(part.items, DigitOf<Coder, Keys>{keys, part.begin, low, width, coder}, own);
#pragma unroll
  for (unsigned int i = 0; i < digits; i += wave_size) {
    unsigned int d = i + lane_index();
    if (d < 1u << width) counts[static_cast<uint64_t>(d) * parts.count + part.number] = own[d];
  }
}
// Each digit's counts become the number of its items before a part; totals[digit] is their sum.
template <int only = 0>
__global__ __launch_bounds__(block_threads) void radix_scan(unsigned int parts, unsigned int* counts,
                                                            unsigned int* totals) {
  unsigned int wave = wave_index();
  if (wave >= 4) return;
  unsigned int digit = blockIdx.x * 4 + wave, lane = lane_index(), before = 0;
  unsigned int* row = counts + static_cast<uint64_t>(digit) * parts;
  Sum op;
#pragma clang loop unroll(disable)
  for (unsigned int done = 0; done < parts; done += wave_size) {
    unsigned int i = done + lane, mine = i < parts ? row[i] : 0, upto = mine;
    scan_lanes<wave_size>(upto, lane, wave_size, op);
    if (i < parts) row[i] = before + upto - mine;
    before += from_one_lane(upto, wave_size - 1);
  }
  if (lane == 0) totals[digit] = before;
}
template <typename Coder, typename Keys, typename KeysOut, typename Values, typename ValuesOut>
__global__ __launch_bounds__(block_threads) void radix_place(Parts parts, Keys keys, KeysOut keys_out, Values values,
                                                             ValuesOut values_out, Coder coder, unsigned int low,
                                                             unsigned int width, const unsigned int* counts,
                                                             const unsigned int* totals) {
  __shared__ unsigned int mine[4][digits];
  Part part;
  if (!next_part(parts, part)) return;
  unsigned int* own = mine[wave_index()];
  unsigned int lane = lane_index(), before = 0;
  Sum op;
#pragma unroll 1
  for (unsigned int i = 0; i < digits; i += wave_size) {
    unsigned int d = i + lane, total = d < 1u << width ? totals[d] : 0, upto = total;
    scan_lanes<wave_size>(upto, lane, wave_size, op);
    own[d] =
        before + upto - total + (d < 1u << width ? counts[static_cast<uint64_t>(d) * parts.count + part.number] : 0);
    before += from_one_lane(upto, wave_size - 1);
  }
  wave_sync();
  place_digits(part.items, width, DigitOf<Coder, Keys>{keys, part.begin, low, width, coder},
               PutPair<Keys, KeysOut, Values, ValuesOut>{keys, keys_out, values, values_out, part.begin, 0}, own);
}

// One pass, from one pair of buffers to another.
template <typename Coder, typename Keys, typename KeysOut, typename Values, typename ValuesOut>
void radix_pass(const Parts& parts, Keys keys, KeysOut keys_out, Values values, ValuesOut values_out, Coder coder,
                unsigned int low, unsigned int width, unsigned int* counts, unsigned int* totals, hipStream_t stream) {
  unsigned int scans = divide_up(1u << width, 4u);
  radix_count<<<parts.blocks(), block_threads, 0, stream>>>(parts, keys, coder, low, width, counts);
  radix_scan<><<<scans, block_threads, 0, stream>>>(parts.count, counts, totals);
  radix_place<<<parts.blocks(), block_threads, 0, stream>>>(parts, keys, keys_out, values, values_out, coder, low,
                                                            width, counts, totals);
}

// What a call gives: keys (and values) from pointers into pointers. With `both`, the output buffers and the others may
// both be overwritten (a DoubleBuffer): the result is then in `keys_out` if `flipped`, else in `keys`.
template <typename KeyT, typename ValueT>
struct SortBuffers {
  const KeyT* keys;
  KeyT* keys_out;
  const ValueT* values;
  ValueT* values_out;
  bool both = false;
  bool flipped = true;
};

template <typename Coder, typename KeyT, typename ValueT>
hipError_t radix_sort(void* temporary, size_t& bytes, SortBuffers<KeyT, ValueT>& buffers, uint64_t items,
                      unsigned int begin_bit, unsigned int end_bit, Coder coder, hipStream_t stream) {
  if (items >> 32 != 0 || begin_bit > end_bit) return hipErrorInvalidValue;
  Parts parts(items);
  unsigned int passes = divide_up(end_bit - begin_bit, digit_bits);
  unsigned int *counts = nullptr, *totals = nullptr;
  KeyT* other_keys = nullptr;
  ValueT* other_values = nullptr;
  Storage storage(temporary, bytes);
  storage.add(counts, static_cast<size_t>(digits) * parts.count);
  storage.add(totals, digits);
  if (!buffers.both && passes > 1) {
    storage.add(other_keys, items);
    if constexpr (has_values<ValueT>) storage.add(other_values, items);
  }
  hipError_t result;
  if (!storage.fits(result)) return result;
  if (buffers.both) {
    buffers.flipped = items != 0 && passes % 2 == 1;
    other_keys = const_cast<KeyT*>(buffers.keys);
    other_values = const_cast<ValueT*>(buffers.values);
  }
  if (items == 0) return result;
  if (passes == 0) {
    if (buffers.both) return result;
    result = copy(buffers.keys, buffers.keys_out, items, stream);
    if constexpr (has_values<ValueT>) {
      if (result == hipSuccess) result = copy(buffers.values, buffers.values_out, items, stream);
    }
    return result;
  }
  const KeyT* keys = buffers.keys;
  const ValueT* values = buffers.values;
  // The digits of all passes have about the same number of bits.
  unsigned int low = begin_bit;
  for (unsigned int pass = 0; pass < passes; ++pass) {
    unsigned int width = divide_up(end_bit - low, passes - pass);
    bool out = buffers.both ? pass % 2 == 0 : (passes - 1 - pass) % 2 == 0;
    KeyT* keys_to = out ? buffers.keys_out : other_keys;
    ValueT* values_to = out ? buffers.values_out : other_values;
    radix_pass(parts, keys, keys_to, values, values_to, coder, low, width, counts, totals, stream);
    keys = keys_to;
    values = values_to;
    low += width;
  }
  return finish();
}

}  // namespace primitives
}  // namespace gpulab
