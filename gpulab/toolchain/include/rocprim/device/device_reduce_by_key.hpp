// rocprim::reduce_by_key: one result of each run of equal keys.
#pragma once
#include "../../gpulab/primitives/runs.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Keys, typename Values, typename Unique, typename Aggregates,
          typename Count, typename Op = plus<gpulab_::element_of<Values>>,
          typename Equality = equal_to<gpulab_::element_of<Keys>>>
hipError_t reduce_by_key(void* temporary, size_t& bytes, Keys keys_input, Values values_input, size_t size,
                         Unique unique_output, Aggregates aggregates_output, Count unique_count_output, Op op = Op(),
                         Equality equality = Equality(), hipStream_t stream = nullptr, bool debug = false) {
  using T =
      gpulab_::result_of<gpulab_::element_of<Values>, Op, gpulab_::element_of<Values>, gpulab_::element_of<Values>>;
  return gpulab_::ended(temporary,
                        gpulab_::reduce_by_key<T>(temporary, bytes, keys_input, unique_output, values_input,
                                                  aggregates_output, unique_count_output, op, equality, size, stream),
                        stream, debug);
}
}  // namespace rocprim
