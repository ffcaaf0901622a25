// hipcub::DeviceSegmentedSort: each segment of the items is sorted for itself. All of these sorts are stable.
#pragma once
#include "segmented.hpp"

namespace hipcub {
struct DeviceSegmentedSort {
#define __GPULAB_SORTS__(Stable, Name, descending)                                                                     \
  template <typename K, typename V, typename Begins, typename Ends>                                                    \
  static hipError_t Stable##SortPairs##Name(                                                                           \
      void* temporary, size_t& bytes, const K* keys_in, K* keys_out, const V* values_in, V* values_out, int64_t items, \
      int64_t segments, Begins begins, Ends ends, hipStream_t stream = nullptr, bool debug = false) {                  \
    return segmented::sort<descending, K, V>(temporary, bytes, {keys_in, keys_out, values_in, values_out}, items,      \
                                             segments, begins, ends, 0, sizeof(K) * 8, stream, debug);                 \
  }                                                                                                                    \
  template <typename K, typename V, typename Begins, typename Ends>                                                    \
  static hipError_t Stable##SortPairs##Name(void* temporary, size_t& bytes, DoubleBuffer<K>& keys,                     \
                                            DoubleBuffer<V>& values, int64_t items, int64_t segments, Begins begins,   \
                                            Ends ends, hipStream_t stream = nullptr, bool debug = false) {             \
    return segmented::sort_both<descending, K, V>(temporary, bytes, keys, &values, items, segments, begins, ends, 0,   \
                                                  sizeof(K) * 8, stream, debug);                                       \
  }                                                                                                                    \
  template <typename K, typename Begins, typename Ends>                                                                \
  static hipError_t Stable##SortKeys##Name(void* temporary, size_t& bytes, const K* keys_in, K* keys_out,              \
                                           int64_t items, int64_t segments, Begins begins, Ends ends,                  \
                                           hipStream_t stream = nullptr, bool debug = false) {                         \
    return segmented::sort<descending, K, NullType>(temporary, bytes, {keys_in, keys_out, nullptr, nullptr}, items,    \
                                                    segments, begins, ends, 0, sizeof(K) * 8, stream, debug);          \
  }                                                                                                                    \
  template <typename K, typename Begins, typename Ends>                                                                \
  static hipError_t Stable##SortKeys##Name(void* temporary, size_t& bytes, DoubleBuffer<K>& keys, int64_t items,       \
                                           int64_t segments, Begins begins, Ends ends, hipStream_t stream = nullptr,   \
                                           bool debug = false) {                                                       \
    return segmented::sort_both<descending, K, NullType>(temporary, bytes, keys, nullptr, items, segments, begins,     \
                                                         ends, 0, sizeof(K) * 8, stream, debug);                       \
  }
  __GPULAB_SORTS__(, , false)
  __GPULAB_SORTS__(, Descending, true)
  __GPULAB_SORTS__(Stable, , false)
  __GPULAB_SORTS__(Stable, Descending, true)
#undef __GPULAB_SORTS__
};
}  // namespace hipcub
