// Sorts of segments: a wave sorts a segment, by its lanes if it is that short, else digit by digit.
#pragma once
#include "radix_sort.h"

namespace gpulab {
namespace primitives {

template <typename Coder, typename KeyT, typename ValueT, typename Begins, typename Ends>
__global__ __launch_bounds__(block_threads) void sort_segments(unsigned int segments, SortBuffers<KeyT, ValueT> buffers,
                                                               KeyT* other_keys, ValueT* other_values, Begins begins,
                                                               Ends ends, unsigned int begin_bit, unsigned int end_bit,
                                                               Coder coder) {
  __shared__ unsigned int counters[4][digits];
  unsigned int wave = wave_index(), lane = lane_index(), step = gridDim.x * 4;
  if (wave >= 4) return;
  unsigned int* places = counters[wave];
  unsigned int passes = divide_up(end_bit - begin_bit, digit_bits);
  // Where the last pass puts the items.
  bool to_out = !buffers.both || passes % 2 == 1;
  KeyT* last_keys = to_out ? buffers.keys_out : other_keys;
  ValueT* last_values = to_out ? buffers.values_out : other_values;
#pragma clang loop unroll(disable)
  for (unsigned int segment = blockIdx.x * 4 + wave; segment < segments; segment += step) {
    uint64_t begin = uniform(static_cast<uint64_t>(at(begins, segment)));
    uint64_t end = uniform(static_cast<uint64_t>(at(ends, segment)));
    if (begin >= end) continue;
    unsigned int items = static_cast<unsigned int>(end - begin);
    if (items <= wave_size) {
      using Bits = typename Coder::Bits;
      bool mine = lane < items;
      KeyT key;
      Bits bits = 0;
      Room<ValueT> value;
      if (mine) {
        key = buffers.keys[begin + lane];
        if constexpr (has_values<ValueT>) value.get() = buffers.values[begin + lane];
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
        if constexpr (has_values<ValueT>) last_values[begin + place] = value.get();
      }
      continue;
    }
    if (passes == 0) {
      if (!buffers.both) {
#pragma clang loop unroll(disable)
        for (unsigned int i = lane; i < items; i += wave_size) {
          last_keys[begin + i] = buffers.keys[begin + i];
          if constexpr (has_values<ValueT>) last_values[begin + i] = buffers.values[begin + i];
        }
      }
      continue;
    }
    const KeyT* keys = buffers.keys;
    const ValueT* values = buffers.values;
    unsigned int low = begin_bit;
#pragma clang loop unroll(disable)
    for (unsigned int pass = 0; pass < passes; ++pass) {
      unsigned int width = divide_up(end_bit - low, passes - pass);
      bool out = buffers.both ? pass % 2 == 0 : (passes - 1 - pass) % 2 == 0;
      KeyT* keys_to = out ? buffers.keys_out : other_keys;
      ValueT* values_to = out ? buffers.values_out : other_values;
      DigitOf<Coder, const KeyT*> digit{keys, begin, low, width, coder};
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
                   PutPair<const KeyT*, KeyT*, const ValueT*, ValueT*>{keys, keys_to, values, values_to, begin, begin},
                   places);
      keys = keys_to;
      values = values_to;
      low += width;
    }
  }
}

template <typename Coder, typename KeyT, typename ValueT, typename Begins, typename Ends>
hipError_t segmented_sort(void* temporary, size_t& bytes, SortBuffers<KeyT, ValueT>& buffers, uint64_t items,
                          unsigned int segments, Begins begins, Ends ends, unsigned int begin_bit, unsigned int end_bit,
                          Coder coder, hipStream_t stream) {
  if (items >> 32 != 0 || begin_bit > end_bit) return hipErrorInvalidValue;
  KeyT* other_keys = nullptr;
  ValueT* other_values = nullptr;
  unsigned int passes = divide_up(end_bit - begin_bit, digit_bits);
  Storage storage(temporary, bytes);
  if (!buffers.both && passes > 1) {
    storage.add(other_keys, items);
    if constexpr (has_values<ValueT>) storage.add(other_values, items);
  }
  hipError_t result;
  if (!storage.fits(result)) return result;
  if (buffers.both) {
    buffers.flipped = passes % 2 == 1;
    other_keys = const_cast<KeyT*>(buffers.keys);
    other_values = const_cast<ValueT*>(buffers.values);
  }
  if (items == 0 || segments == 0) return result;
  unsigned int blocks = least(divide_up(segments, 4u), 4096u);
  sort_segments<<<blocks, block_threads, 0, stream>>>(segments, buffers, other_keys, other_values, begins, ends,
                                                      begin_bit, end_bit, coder);
  return finish();
}

}  // namespace primitives
}  // namespace gpulab
