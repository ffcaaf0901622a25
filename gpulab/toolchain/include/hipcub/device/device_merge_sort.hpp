// hipcub::DeviceMergeSort: sorts with a comparison, of items of any type. All of them are stable.
#pragma once
#include "../../gpulab/primitives/merge.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceMergeSort {
  template <typename Keys, typename Values, typename Count, typename Compare>
  static hipError_t SortPairs(void* temporary, size_t& bytes, Keys keys, Values values, Count items, Compare less,
                              hipStream_t stream = nullptr, bool debug = false) {
    return sort(temporary, bytes, keys, values, keys, values, items, less, stream, debug);
  }
  template <typename Keys, typename Values, typename KeysOut, typename ValuesOut, typename Count, typename Compare>
  static hipError_t SortPairsCopy(void* temporary, size_t& bytes, Keys keys, Values values, KeysOut keys_out,
                                  ValuesOut values_out, Count items, Compare less, hipStream_t stream = nullptr,
                                  bool debug = false) {
    return sort(temporary, bytes, keys, values, keys_out, values_out, items, less, stream, debug);
  }
  template <typename Keys, typename Count, typename Compare>
  static hipError_t SortKeys(void* temporary, size_t& bytes, Keys keys, Count items, Compare less,
                             hipStream_t stream = nullptr, bool debug = false) {
    NullType* none = nullptr;
    return sort(temporary, bytes, keys, none, keys, none, items, less, stream, debug);
  }
  template <typename Keys, typename KeysOut, typename Count, typename Compare>
  static hipError_t SortKeysCopy(void* temporary, size_t& bytes, Keys keys, KeysOut keys_out, Count items, Compare less,
                                 hipStream_t stream = nullptr, bool debug = false) {
    NullType* none = nullptr;
    return sort(temporary, bytes, keys, none, keys_out, none, items, less, stream, debug);
  }
  template <typename Keys, typename Values, typename Count, typename Compare>
  static hipError_t StableSortPairs(void* temporary, size_t& bytes, Keys keys, Values values, Count items, Compare less,
                                    hipStream_t stream = nullptr, bool debug = false) {
    return SortPairs(temporary, bytes, keys, values, items, less, stream, debug);
  }
  template <typename Keys, typename Count, typename Compare>
  static hipError_t StableSortKeys(void* temporary, size_t& bytes, Keys keys, Count items, Compare less,
                                   hipStream_t stream = nullptr, bool debug = false) {
    return SortKeys(temporary, bytes, keys, items, less, stream, debug);
  }
  template <typename Keys, typename KeysOut, typename Count, typename Compare>
  static hipError_t StableSortKeysCopy(void* temporary, size_t& bytes, Keys keys, KeysOut keys_out, Count items,
                                       Compare less, hipStream_t stream = nullptr, bool debug = false) {
    return SortKeysCopy(temporary, bytes, keys, keys_out, items, less, stream, debug);
  }

 private:
  template <typename Keys, typename Values, typename KeysOut, typename ValuesOut, typename Count, typename Compare>
  static hipError_t sort(void* temporary, size_t& bytes, Keys keys, Values values, KeysOut keys_out,
                         ValuesOut values_out, Count items, Compare less, hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    return p::ended(
        temporary,
        p::merge_sort(temporary, bytes, keys, keys_out, values, values_out, static_cast<uint64_t>(items), less, stream),
        stream, debug);
  }
};
}  // namespace hipcub
