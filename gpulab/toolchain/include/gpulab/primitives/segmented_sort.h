// Sorts of segments: a wave sorts a segment, by its lanes if it is that short, else digit by digit.
#pragma once
#include "radix_sort.h"

namespace gpulab {
namespace primitives {

template <typename Coder, typename K, typename V, typename Begins, typename Ends>
__global__ __launch_bounds__(block_threads) void sort_segments(unsigned int segments, SortBuffers<K, V> buffers,
                                                               K* other_keys, V* other_values, Begins begins, Ends ends,
                                                               unsigned int begin_bit, unsigned int end_bit,
                                                               Coder coder) {
  __shared__ unsigned int counters[4][digits];
  unsigned int wave = wave_index(), lane = lane_index(), step = gridDim.x * 4;
  if (wave >= 4) return;
  unsigned int* places = counters[wave];
  unsigned int passes = divide_up(end_bit - begin_bit, digit_bits);
  // Where the last pass puts the items.
  bool to_out = !buffers.both || passes % 2 == 1;
  K* last_keys = to_out ? buffers.keys_out : other_keys;
  V* last_values = to_out ? buffers.values_out : other_values;
#pragma clang loop unroll(disable)
  for (unsigned int segment = blockIdx.x * 4 + wave; segment < segments; segment += step) {
    uint64_t begin = uniform(static_cast<uint64_t>(at(begins, segment)));
    uint64_t end = uniform(static_cast<uint64_t>(at(ends, segment)));
    if (begin >= end) continue;
    unsigned int items = static_cast<unsigned int>(end - begin);
    if (items <= wave_size) {
      using Bits = typename Coder::Bits;
      bool mine = lane < items;
      K key;
      Bits bits = 0;
      Room<V> value;
      if (mine) {
        key = buffers.keys[begin + lane];
        if constexpr (has_values<V>) value.get() = buffers.values[begin + lane];
        bits = passes == 0 ? Bits(0) : coder.part(key, begin_bit, end_bit);
      }
      unsigned int place = 0;
#pragma clang loop unroll(disable)
      for (unsigned int i = 0; i < items; ++i) {
        Bits other = from_one_lane(bits, i);
        place += other < bits || (other == bits && i < lane) ? 1u : 0u;
      }
      if (mine) {
        last_keys[begin + place] = key;
        if constexpr (has_values<V>) last_values[begin + place] = value.get();
      }
      continue;
    }
    if (passes == 0) {
      if (!buffers.both) {
#pragma clang loop unroll(disable)
        for (unsigned int i = lane; i < items; i += wave_size) {
          last_keys[begin + i] = buffers.keys[begin + i];
          if constexpr (has_values<V>) last_values[begin + i] = buffers.values[begin + i];
        }
      }
      continue;
    }
    const K* keys = buffers.keys;
    const V* values = buffers.values;
    unsigned int low = begin_bit;
#pragma clang loop unroll(disable)
    for (unsigned int pass = 0; pass < passes; ++pass) {
      unsigned int width = divide_up(end_bit - low, passes - pass);
      bool out = buffers.both ? pass % 2 == 0 : (passes - 1 - pass) % 2 == 0;
      K* keys_to = out ? buffers.keys_out : other_keys;
      V* values_to = out ? buffers.values_out : other_values;
      DigitOf<Coder, const K*> digit{keys, begin, low, width, coder};
      count_digits(items, digit, places);
      unsigned int before = 0;
      Sum op;
#pragma unroll 1
      for (unsigned int i = 0; i < digits; i += wave_size) {
        unsigned int count = places[i + lane], upto = count;
        scan_lanes<wave_size>(upto, lane, wave_size, op);
        places[i + lane] = before + upto - count;
        before += from_one_lane(upto, wave_size - 1);
      }
      wave_sync();
      place_digits(items, width, digit,
                   PutPair<const K*, K*, const V*, V*>{keys, keys_to, values, values_to, begin, begin}, places);
      keys = keys_to;
      values = values_to;
      low += width;
    }
  }
}

template <typename Coder, typename K, typename V, typename Begins, typename Ends>
hipError_t segmented_sort(void* temporary, size_t& bytes, SortBuffers<K, V>& buffers, uint64_t items,
                          unsigned int segments, Begins begins, Ends ends, unsigned int begin_bit, unsigned int end_bit,
                          Coder coder, hipStream_t stream) {
  if (items >> 32 != 0 || begin_bit > end_bit) return hipErrorInvalidValue;
  K* other_keys = nullptr;
  V* other_values = nullptr;
  unsigned int passes = divide_up(end_bit - begin_bit, digit_bits);
  Storage storage(temporary, bytes);
  if (!buffers.both && passes > 1) {
    storage.add(other_keys, items);
    if constexpr (has_values<V>) storage.add(other_values, items);
  }
  hipError_t result;
  if (!storage.fits(result)) return result;
  if (buffers.both) {
    buffers.flipped = passes % 2 == 1;
    other_keys = const_cast<K*>(buffers.keys);
    other_values = const_cast<V*>(buffers.values);
  }
  if (items == 0 || segments == 0) return result;
  unsigned int blocks = least(divide_up(segments, 4u), 4096u);
  sort_segments<<<blocks, block_threads, 0, stream>>>(segments, buffers, other_keys, other_values, begins, ends,
                                                      begin_bit, end_bit, coder);
  return finish();
}

}  // namespace primitives
}  // namespace gpulab
