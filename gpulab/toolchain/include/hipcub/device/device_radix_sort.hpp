// hipcub::DeviceRadixSort: stable sorts of numbers, with or without values beside them.
#pragma once
#include "../../gpulab/primitives/radix_sort.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceRadixSort {
#define __GPULAB_SORTS__(Name, descending)                                                                             \
  template <typename KeyT, typename ValueT, typename Count>                                                            \
  static hipError_t SortPairs##Name(void* temporary, size_t& bytes, const KeyT* keys_in, KeyT* keys_out,               \
                                    const ValueT* values_in, ValueT* values_out, Count items, int begin_bit = 0,       \
                                    int end_bit = sizeof(KeyT) * 8, hipStream_t stream = nullptr,                      \
                                    bool debug = false) {                                                              \
    return sort<descending, KeyT, ValueT>(temporary, bytes, {keys_in, keys_out, values_in, values_out}, items,         \
                                          begin_bit, end_bit, stream, debug);                                          \
  }                                                                                                                    \
  template <typename KeyT, typename ValueT, typename Count>                                                            \
  static hipError_t SortPairs##Name(                                                                                   \
      void* temporary, size_t& bytes, DoubleBuffer<KeyT>& keys, DoubleBuffer<ValueT>& values, Count items,             \
      int begin_bit = 0, int end_bit = sizeof(KeyT) * 8, hipStream_t stream = nullptr, bool debug = false) {           \
    return sort_both<descending, KeyT, ValueT>(temporary, bytes, keys, &values, items, begin_bit, end_bit, stream,     \
                                               debug);                                                                 \
  }                                                                                                                    \
  template <typename KeyT, typename Count>                                                                             \
  static hipError_t SortKeys##Name(void* temporary, size_t& bytes, const KeyT* keys_in, KeyT* keys_out, Count items,   \
                                   int begin_bit = 0, int end_bit = sizeof(KeyT) * 8, hipStream_t stream = nullptr,    \
                                   bool debug = false) {                                                               \
    return sort<descending, KeyT, NullType>(temporary, bytes, {keys_in, keys_out, nullptr, nullptr}, items, begin_bit, \
                                            end_bit, stream, debug);                                                   \
  }                                                                                                                    \
  template <typename KeyT, typename Count>                                                                             \
  static hipError_t SortKeys##Name(void* temporary, size_t& bytes, DoubleBuffer<KeyT>& keys, Count items,              \
                                   int begin_bit = 0, int end_bit = sizeof(KeyT) * 8, hipStream_t stream = nullptr,    \
                                   bool debug = false) {                                                               \
    return sort_both<descending, KeyT, NullType>(temporary, bytes, keys,                                               \
                                                 static_cast<DoubleBuffer<NullType>*>(nullptr), items, begin_bit,      \
                                                 end_bit, stream, debug);                                              \
  }
  __GPULAB_SORTS__(, false)
  __GPULAB_SORTS__(Descending, true)
#undef __GPULAB_SORTS__

 private:
  template <bool descending, typename KeyT, typename ValueT, typename Count>
  static hipError_t sort(void* temporary, size_t& bytes, ::gpulab::primitives::SortBuffers<KeyT, ValueT> buffers,
                         Count items, int begin_bit, int end_bit, hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    if (begin_bit < 0 || end_bit > static_cast<int>(sizeof(KeyT) * 8)) return hipErrorInvalidValue;
    hipError_t error =
        p::radix_sort(temporary, bytes, buffers, static_cast<uint64_t>(items), static_cast<unsigned int>(begin_bit),
                      static_cast<unsigned int>(end_bit), p::RadixKey<KeyT, descending>{}, stream);
    return p::ended(temporary, error, stream, debug);
  }
  template <bool descending, typename KeyT, typename ValueT, typename Count>
  static hipError_t sort_both(void* temporary, size_t& bytes, DoubleBuffer<KeyT>& keys, DoubleBuffer<ValueT>* values,
                              Count items, int begin_bit, int end_bit, hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    if (begin_bit < 0 || end_bit > static_cast<int>(sizeof(KeyT) * 8)) return hipErrorInvalidValue;
    p::SortBuffers<KeyT, ValueT> buffers{keys.Current(), keys.Alternate(),
                                         values == nullptr ? nullptr : values->Current(),
                                         values == nullptr ? nullptr : values->Alternate(), true};
    hipError_t error =
        p::radix_sort(temporary, bytes, buffers, static_cast<uint64_t>(items), static_cast<unsigned int>(begin_bit),
                      static_cast<unsigned int>(end_bit), p::RadixKey<KeyT, descending>{}, stream);
    if (temporary == nullptr || error != hipSuccess) return error;
    if (buffers.flipped) {
      keys.selector ^= 1;
      if (values != nullptr) values->selector ^= 1;
    }
    return p::ended(temporary, error, stream, debug);
  }
};
}  // namespace hipcub
