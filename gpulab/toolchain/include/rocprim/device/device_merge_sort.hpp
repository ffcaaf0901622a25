// rocprim::merge_sort: stable, with a comparison.
#pragma once
#include "../../gpulab/primitives/merge.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Keys, typename KeysOut,
          typename Compare = less<gpulab_::element_of<Keys>>>
hipError_t merge_sort(void* temporary, size_t& bytes, Keys keys_input, KeysOut keys_output, size_t size,
                      Compare compare = Compare(), hipStream_t stream = nullptr, bool debug = false) {
  gpulab_::NoValues* none = nullptr;
  return gpulab_::ended(
      temporary, gpulab_::merge_sort(temporary, bytes, keys_input, keys_output, none, none, size, compare, stream),
      stream, debug);
}
template <typename Config = default_config, typename Keys, typename KeysOut, typename Values, typename ValuesOut,
          typename Compare = less<gpulab_::element_of<Keys>>>
hipError_t merge_sort(void* temporary, size_t& bytes, Keys keys_input, KeysOut keys_output, Values values_input,
                      ValuesOut values_output, size_t size, Compare compare = Compare(), hipStream_t stream = nullptr,
                      bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::merge_sort(temporary, bytes, keys_input, keys_output, values_input, values_output,
                                            size, compare, stream),
                        stream, debug);
}
}  // namespace rocprim
