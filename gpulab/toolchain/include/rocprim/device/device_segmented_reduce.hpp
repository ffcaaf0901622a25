// rocprim::segmented_reduce: one result of each segment.
#pragma once
#include "../../gpulab/primitives/reduce.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Output, typename Offsets,
          typename Op = plus<gpulab_::element_of<Input>>, typename Init = gpulab_::element_of<Input>>
hipError_t segmented_reduce(void* temporary, size_t& bytes, Input input, Output output, unsigned int segments,
                            Offsets begin_offsets, Offsets end_offsets, Op op = Op(), Init initial_value = Init(),
                            hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<Init, Op, Init, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::reduce_by_segment<T>(temporary, bytes, gpulab_::Loading<Input>{input},
                                                      gpulab_::StoringSegment<Output>{output}, segments, begin_offsets,
                                                      end_offsets, op, initial_value, stream),
                        stream, debug);
}
}  // namespace rocprim
