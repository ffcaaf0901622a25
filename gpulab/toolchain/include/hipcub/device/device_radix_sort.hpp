// hipcub::DeviceRadixSort: stable sorts of numbers, with or without values beside them.
#pragma once
#include "../../gpulab/primitives/radix_sort.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceRadixSort {
#define __GPULAB_SORTS__(Name, descending)                                                                             \
  template <typename K, typename V, typename Count>                                                                    \
  static hipError_t SortPairs##Name(void* temporary, size_t& bytes, const K* keys_in, K* keys_out, const V* values_in, \
                                    V* values_out, Count items, int begin_bit = 0, int end_bit = sizeof(K) * 8,        \
                                    hipStream_t stream = nullptr, bool debug = false) {                                \
    return sort<descending, K, V>(temporary, bytes, {keys_in, keys_out, values_in, values_out}, items, begin_bit,      \
                                  end_bit, stream, debug);                                                             \
  }                                                                                                                    \
  template <typename K, typename V, typename Count>                                                                    \
  static hipError_t SortPairs##Name(void* temporary, size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>& values,    \
                                    Count items, int begin_bit = 0, int end_bit = sizeof(K) * 8,                       \
                                    hipStream_t stream = nullptr, bool debug = false) {                                \
    return sort_both<descending, K, V>(temporary, bytes, keys, &values, items, begin_bit, end_bit, stream, debug);     \
  }                                                                                                                    \
  template <typename K, typename Count>                                                                                \
  static hipError_t SortKeys##Name(void* temporary, size_t& bytes, const K* keys_in, K* keys_out, Count items,         \
                                   int begin_bit = 0, int end_bit = sizeof(K) * 8, hipStream_t stream = nullptr,       \
                                   bool debug = false) {                                                               \
    return sort<descending, K, NullType>(temporary, bytes, {keys_in, keys_out, nullptr, nullptr}, items, begin_bit,    \
                                         end_bit, stream, debug);                                                      \
  }                                                                                                                    \
  template <typename K, typename Count>                                                                                \
  static hipError_t SortKeys##Name(void* temporary, size_t& bytes, DoubleBuffer<K>& keys, Count items,                 \
                                   int begin_bit = 0, int end_bit = sizeof(K) * 8, hipStream_t stream = nullptr,       \
                                   bool debug = false) {                                                               \
    return sort_both<descending, K, NullType>(temporary, bytes, keys, static_cast<DoubleBuffer<NullType>*>(nullptr),   \
                                              items, begin_bit, end_bit, stream, debug);                               \
  }
  __GPULAB_SORTS__(, false)
  __GPULAB_SORTS__(Descending, true)
#undef __GPULAB_SORTS__

 private:
  template <bool descending, typename K, typename V, typename Count>
  static hipError_t sort(void* temporary, size_t& bytes, ::gpulab::primitives::SortBuffers<K, V> buffers, Count items,
                         int begin_bit, int end_bit, hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    if (begin_bit < 0 || end_bit > static_cast<int>(sizeof(K) * 8)) return hipErrorInvalidValue;
    hipError_t error =
        p::radix_sort(temporary, bytes, buffers, static_cast<uint64_t>(items), static_cast<unsigned int>(begin_bit),
                      static_cast<unsigned int>(end_bit), p::RadixKey<K, descending>{}, stream);
    return p::ended(temporary, error, stream, debug);
  }
  template <bool descending, typename K, typename V, typename Count>
  static hipError_t sort_both(void* temporary, size_t& bytes, DoubleBuffer<K>& keys, DoubleBuffer<V>* values,
                              Count items, int begin_bit, int end_bit, hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    if (begin_bit < 0 || end_bit > static_cast<int>(sizeof(K) * 8)) return hipErrorInvalidValue;
    p::SortBuffers<K, V> buffers{keys.Current(), keys.Alternate(), values == nullptr ? nullptr : values->Current(),
                                 values == nullptr ? nullptr : values->Alternate(), true};
    hipError_t error =
        p::radix_sort(temporary, bytes, buffers, static_cast<uint64_t>(items), static_cast<unsigned int>(begin_bit),
                      static_cast<unsigned int>(end_bit), p::RadixKey<K, descending>{}, stream);
    if (temporary == nullptr || error != hipSuccess) return error;
    if (buffers.flipped) {
      keys.selector ^= 1;
      if (values != nullptr) values->selector ^= 1;
    }
    return p::ended(temporary, error, stream, debug);
  }
};
}  // namespace hipcub
