// What DeviceSegmentedRadixSort and DeviceSegmentedSort have in common.
#pragma once
#include "../../gpulab/primitives/segmented_sort.h"
#include "../config.hpp"

namespace hipcub {
namespace segmented {
template <bool descending, typename KeyT, typename ValueT, typename Begins, typename Ends>
hipError_t sort(void* temporary, size_t& bytes, ::gpulab::primitives::SortBuffers<KeyT, ValueT> buffers, int64_t items,
                int64_t segments, Begins begins, Ends ends, int begin_bit, int end_bit, hipStream_t stream,
                bool debug) {
  namespace p = ::gpulab::primitives;
  if (begin_bit < 0 || end_bit > static_cast<int>(sizeof(KeyT) * 8)) return hipErrorInvalidValue;
  if (segments < 0 || segments >> 32 != 0 || items < 0) return hipErrorInvalidValue;
  return p::ended(
      temporary,
      p::segmented_sort(temporary, bytes, buffers, static_cast<uint64_t>(items), static_cast<unsigned int>(segments),
                        begins, ends, static_cast<unsigned int>(begin_bit), static_cast<unsigned int>(end_bit),
                        p::RadixKey<KeyT, descending>{}, stream),
      stream, debug);
}
// Both buffers may be overwritten; the selectors say where the result is.
template <bool descending, typename KeyT, typename ValueT, typename Begins, typename Ends>
hipError_t sort_both(void* temporary, size_t& bytes, DoubleBuffer<KeyT>& keys, DoubleBuffer<ValueT>* values,
                     int64_t items, int64_t segments, Begins begins, Ends ends, int begin_bit, int end_bit,
                     hipStream_t stream, bool debug) {
  ::gpulab::primitives::SortBuffers<KeyT, ValueT> buffers{keys.Current(), keys.Alternate(),
                                                          values == nullptr ? nullptr : values->Current(),
                                                          values == nullptr ? nullptr : values->Alternate(), true};
  hipError_t error =
      sort<descending>(temporary, bytes, buffers, items, segments, begins, ends, begin_bit, end_bit, stream, debug);
  int passes = (end_bit - begin_bit + 7) / 8;
  if (temporary != nullptr && error == hipSuccess && passes % 2 == 1) {
    keys.selector ^= 1;
    if (values != nullptr) values->selector ^= 1;
  }
  return error;
}
}  // namespace segmented
}  // namespace hipcub
