// rocPRIM's nth_element, partial_sort and partial_sort_copy: all items are sorted.
#pragma once
#include "../../gpulab/primitives/merge.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Keys, typename KeysOut,
          typename Compare = less<gpulab_::element_of<Keys>>,
          typename = typename ::gpulab::enable_if<!__is_integral(KeysOut)>::type>
hipError_t nth_element(void* temporary, size_t& bytes, Keys keys_input, KeysOut keys_output, size_t nth, size_t size,
                       Compare compare = Compare(), hipStream_t stream = nullptr, bool debug = false) {
  if (nth >= size && size != 0) return hipErrorInvalidValue;
  gpulab_::NoValues* none = nullptr;
  return gpulab_::ended(
      temporary, gpulab_::merge_sort(temporary, bytes, keys_input, keys_output, none, none, size, compare, stream),
      stream, debug);
}
template <typename Config = default_config, typename Keys, typename Compare = less<gpulab_::element_of<Keys>>,
          typename = typename ::gpulab::enable_if<__is_class(Compare)>::type>
hipError_t nth_element(void* temporary, size_t& bytes, Keys keys, size_t nth, size_t size, Compare compare = Compare(),
                       hipStream_t stream = nullptr, bool debug = false) {
  return nth_element<Config>(temporary, bytes, keys, keys, nth, size, compare, stream, debug);
}
template <typename Config = default_config, typename Keys, typename Compare = less<gpulab_::element_of<Keys>>>
hipError_t partial_sort(void* temporary, size_t& bytes, Keys keys, size_t middle, size_t size,
                        Compare compare = Compare(), hipStream_t stream = nullptr, bool debug = false) {
  if (middle >= size && size != 0) return hipErrorInvalidValue;
  gpulab_::NoValues* none = nullptr;
  return gpulab_::ended(temporary, gpulab_::merge_sort(temporary, bytes, keys, keys, none, none, size, compare, stream),
                        stream, debug);
}
}  // namespace rocprim
