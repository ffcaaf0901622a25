// hipcub::DeviceSegmentedRadixSort: each segment of the items is sorted for itself.
#pragma once
#include "segmented.hpp"

namespace hipcub {
struct DeviceSegmentedRadixSort {
#define __GPULAB_SORTS__(Name, descending)                                                                             \
  template <typename KeyT, typename ValueT, typename Begins, typename Ends>                                            \
  static hipError_t SortPairs##Name(void* temporary, size_t& bytes, const KeyT* keys_in, KeyT* keys_out,               \
                                    const ValueT* values_in, ValueT* values_out, int64_t items, int64_t segments,      \
                                    Begins begins, Ends ends, int begin_bit = 0, int end_bit = sizeof(KeyT) * 8,       \
                                    hipStream_t stream = nullptr, bool debug = false) {                                \
    return segmented::sort<descending, KeyT, ValueT>(temporary, bytes, {keys_in, keys_out, values_in, values_out},     \
                                                     items, segments, begins, ends, begin_bit, end_bit, stream,        \
                                                     debug);                                                           \
  }                                                                                                                    \
  template <typename KeyT, typename ValueT, typename Begins, typename Ends>                                            \
  static hipError_t SortPairs##Name(void* temporary, size_t& bytes, DoubleBuffer<KeyT>& keys,                          \
                                    DoubleBuffer<ValueT>& values, int64_t items, int64_t segments, Begins begins,      \
                                    Ends ends, int begin_bit = 0, int end_bit = sizeof(KeyT) * 8,                      \
                                    hipStream_t stream = nullptr, bool debug = false) {                                \
    return segmented::sort_both<descending, KeyT, ValueT>(temporary, bytes, keys, &values, items, segments, begins,    \
                                                          ends, begin_bit, end_bit, stream, debug);                    \
  }                                                                                                                    \
  template <typename KeyT, typename Begins, typename Ends>                                                             \
  static hipError_t SortKeys##Name(void* temporary, size_t& bytes, const KeyT* keys_in, KeyT* keys_out, int64_t items, \
                                   int64_t segments, Begins begins, Ends ends, int begin_bit = 0,                      \
                                   int end_bit = sizeof(KeyT) * 8, hipStream_t stream = nullptr, bool debug = false) { \
    return segmented::sort<descending, KeyT, NullType>(temporary, bytes, {keys_in, keys_out, nullptr, nullptr}, items, \
                                                       segments, begins, ends, begin_bit, end_bit, stream, debug);     \
  }                                                                                                                    \
  template <typename KeyT, typename Begins, typename Ends>                                                             \
  static hipError_t SortKeys##Name(void* temporary, size_t& bytes, DoubleBuffer<KeyT>& keys, int64_t items,            \
                                   int64_t segments, Begins begins, Ends ends, int begin_bit = 0,                      \
                                   int end_bit = sizeof(KeyT) * 8, hipStream_t stream = nullptr, bool debug = false) { \
    return segmented::sort_both<descending, KeyT, NullType>(temporary, bytes, keys, nullptr, items, segments, begins,  \
                                                            ends, begin_bit, end_bit, stream, debug);                  \
  }
  __GPULAB_SORTS__(, false)
  __GPULAB_SORTS__(Descending, true)
#undef __GPULAB_SORTS__
};
}  // namespace hipcub
