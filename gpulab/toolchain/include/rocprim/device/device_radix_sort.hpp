// rocPRIM's radix sorts.
#pragma once
#include "../../gpulab/primitives/radix_sort.h"
#include "../iterators.hpp"

namespace rocprim {

namespace sorting {
// Pointers are sorted as they are; items of other iterators are copied into the output first.
template <bool descending, typename Keys, typename KeysOut, typename Values, typename ValuesOut>
hipError_t radix(void* temporary, size_t& bytes, Keys keys, KeysOut keys_out, Values values, ValuesOut values_out,
                 size_t size, unsigned int begin_bit, unsigned int end_bit, hipStream_t stream, bool debug) {
  using KeyT = gpulab_::element_of<Keys>;
  using ValueT = gpulab_::element_of<Values>;
  gpulab_::RadixKey<KeyT, descending> coder;
  if (end_bit > 8 * sizeof(KeyT)) return hipErrorInvalidValue;
  if constexpr (__is_pointer(Keys) && __is_pointer(KeysOut) && __is_pointer(Values) && __is_pointer(ValuesOut)) {
    gpulab_::SortBuffers<KeyT, ValueT> buffers{keys, keys_out, values, values_out};
    return gpulab_::ended(temporary,
                          gpulab_::radix_sort(temporary, bytes, buffers, size, begin_bit, end_bit, coder, stream),
                          stream, debug);
  } else {
    KeyT *first_keys = nullptr, *last_keys = nullptr;
    ValueT *first_values = nullptr, *last_values = nullptr;
    char* more = nullptr;
    size_t inner = 0;
    gpulab_::SortBuffers<KeyT, ValueT> buffers{nullptr, nullptr, nullptr, nullptr};
    hipError_t result = gpulab_::radix_sort(nullptr, inner, buffers, size, begin_bit, end_bit, coder, stream);
    if (result != hipSuccess) return result;
    gpulab_::Storage storage(temporary, bytes);
    storage.add(first_keys, size);
    storage.add(last_keys, size);
    if constexpr (gpulab_::has_values<ValueT>) {
      storage.add(first_values, size);
      storage.add(last_values, size);
    }
    storage.add(more, inner);
    if (!storage.fits(result)) return result;
    result = gpulab_::copy(keys, first_keys, size, stream);
    if constexpr (gpulab_::has_values<ValueT>) {
      if (result == hipSuccess) result = gpulab_::copy(values, first_values, size, stream);
    }
    buffers = {first_keys, last_keys, first_values, last_values};
    if (result == hipSuccess)
      result = gpulab_::radix_sort(more, inner, buffers, size, begin_bit, end_bit, coder, stream);
    if (result == hipSuccess) result = gpulab_::copy(last_keys, keys_out, size, stream);
    if constexpr (gpulab_::has_values<ValueT>) {
      if (result == hipSuccess) result = gpulab_::copy(last_values, values_out, size, stream);
    }
    return gpulab_::ended(temporary, result, stream, debug);
  }
}
template <bool descending, typename KeyT, typename ValueT>
hipError_t radix_both(void* temporary, size_t& bytes, double_buffer<KeyT>& keys, double_buffer<ValueT>& values,
                      size_t size, unsigned int begin_bit, unsigned int end_bit, hipStream_t stream, bool debug) {
  if (end_bit > 8 * sizeof(KeyT)) return hipErrorInvalidValue;
  gpulab_::SortBuffers<KeyT, ValueT> buffers{keys.current(), keys.alternate(), values.current(), values.alternate(),
                                             true};
  hipError_t result = gpulab_::radix_sort(temporary, bytes, buffers, size, begin_bit, end_bit,
                                          gpulab_::RadixKey<KeyT, descending>{}, stream);
  if (temporary != nullptr && result == hipSuccess && buffers.flipped) {
    keys.swap();
    values.swap();
  }
  return gpulab_::ended(temporary, result, stream, debug);
}
}  // namespace sorting

template <typename Config = default_config, typename Keys, typename KeysOut,
          typename = typename ::gpulab::enable_if<!__is_integral(KeysOut)>::type>
hipError_t radix_sort_keys(void* temporary, size_t& bytes, Keys input, KeysOut output, size_t size,
                           unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(gpulab_::element_of<Keys>),
                           hipStream_t stream = nullptr, bool debug = false) {
  gpulab_::NoValues* none = nullptr;
  return sorting::radix<false>(temporary, bytes, input, output, none, none, size, begin_bit, end_bit, stream, debug);
}
template <typename Config = default_config, typename Key>
hipError_t radix_sort_keys(void* temporary, size_t& bytes, double_buffer<Key>& keys, size_t size,
                           unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(Key),
                           hipStream_t stream = nullptr, bool debug = false) {
  double_buffer<gpulab_::NoValues> none;
  return sorting::radix_both<false>(temporary, bytes, keys, none, size, begin_bit, end_bit, stream, debug);
}
template <typename Config = default_config, typename Keys, typename KeysOut, typename Values, typename ValuesOut,
          typename = typename ::gpulab::enable_if<!__is_integral(Values)>::type>
hipError_t radix_sort_pairs(void* temporary, size_t& bytes, Keys keys_input, KeysOut keys_output, Values values_input,
                            ValuesOut values_output, size_t size, unsigned int begin_bit = 0,
                            unsigned int end_bit = 8 * sizeof(gpulab_::element_of<Keys>), hipStream_t stream = nullptr,
                            bool debug = false) {
  return sorting::radix<false>(temporary, bytes, keys_input, keys_output, values_input, values_output, size, begin_bit,
                               end_bit, stream, debug);
}
template <typename Config = default_config, typename Key, typename Value>
hipError_t radix_sort_pairs(void* temporary, size_t& bytes, double_buffer<Key>& keys, double_buffer<Value>& values,
                            size_t size, unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(Key),
                            hipStream_t stream = nullptr, bool debug = false) {
  return sorting::radix_both<false>(temporary, bytes, keys, values, size, begin_bit, end_bit, stream, debug);
}

template <typename Config = default_config, typename Keys, typename KeysOut,
          typename = typename ::gpulab::enable_if<!__is_integral(KeysOut)>::type>
hipError_t radix_sort_keys_desc(void* temporary, size_t& bytes, Keys input, KeysOut output, size_t size,
                                unsigned int begin_bit = 0,
                                unsigned int end_bit = 8 * sizeof(gpulab_::element_of<Keys>),
                                hipStream_t stream = nullptr, bool debug = false) {
  gpulab_::NoValues* none = nullptr;
  return sorting::radix<true>(temporary, bytes, input, output, none, none, size, begin_bit, end_bit, stream, debug);
}
template <typename Config = default_config, typename Key>
hipError_t radix_sort_keys_desc(void* temporary, size_t& bytes, double_buffer<Key>& keys, size_t size,
                                unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(Key),
                                hipStream_t stream = nullptr, bool debug = false) {
  double_buffer<gpulab_::NoValues> none;
  return sorting::radix_both<true>(temporary, bytes, keys, none, size, begin_bit, end_bit, stream, debug);
}
template <typename Config = default_config, typename Keys, typename KeysOut, typename Values, typename ValuesOut,
          typename = typename ::gpulab::enable_if<!__is_integral(Values)>::type>
hipError_t radix_sort_pairs_desc(void* temporary, size_t& bytes, Keys keys_input, KeysOut keys_output,
                                 Values values_input, ValuesOut values_output, size_t size, unsigned int begin_bit = 0,
                                 unsigned int end_bit = 8 * sizeof(gpulab_::element_of<Keys>),
                                 hipStream_t stream = nullptr, bool debug = false) {
  return sorting::radix<true>(temporary, bytes, keys_input, keys_output, values_input, values_output, size, begin_bit,
                              end_bit, stream, debug);
}
template <typename Config = default_config, typename Key, typename Value>
hipError_t radix_sort_pairs_desc(void* temporary, size_t& bytes, double_buffer<Key>& keys, double_buffer<Value>& values,
                                 size_t size, unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(Key),
                                 hipStream_t stream = nullptr, bool debug = false) {
  return sorting::radix_both<true>(temporary, bytes, keys, values, size, begin_bit, end_bit, stream, debug);
}
}  // namespace rocprim
