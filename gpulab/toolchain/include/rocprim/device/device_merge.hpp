// rocprim::merge: two sorted inputs become one; of equal items those of the first come first.
#pragma once
#include "../../gpulab/primitives/merge.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename TypeA, typename TypeB, typename Out,
          typename Compare = less<gpulab_::element_of<TypeA>>>
hipError_t merge(void* temporary, size_t& bytes, TypeA input1, TypeB input2, Out output, size_t size1, size_t size2,
                 Compare compare = Compare(), hipStream_t stream = nullptr, bool debug = false) {
  gpulab_::NoValues* none = nullptr;
  return gpulab_::ended(
      temporary,
      gpulab_::merge(temporary, bytes, input1, input2, output, none, none, none, size1, size2, compare, stream), stream,
      debug);
}
template <typename Config = default_config, typename TypeA, typename TypeB, typename Out, typename AV, typename BV,
          typename OutV, typename Compare = less<gpulab_::element_of<TypeA>>>
hipError_t merge(void* temporary, size_t& bytes, TypeA keys1, TypeB keys2, Out keys_output, AV values1, BV values2,
                 OutV values_output, size_t size1, size_t size2, Compare compare = Compare(),
                 hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::merge(temporary, bytes, keys1, keys2, keys_output, values1, values2, values_output,
                                       size1, size2, compare, stream),
                        stream, debug);
}
}  // namespace rocprim
