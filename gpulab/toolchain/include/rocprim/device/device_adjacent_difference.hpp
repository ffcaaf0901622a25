// rocPRIM's differences of neighbours.
#pragma once
#include "../../gpulab/primitives/difference.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Output, typename Op = minus<>>
hipError_t adjacent_difference(void* temporary, size_t& bytes, Input input, Output output, size_t size, Op op = Op(),
                               hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::adjacent_difference<true, false>(temporary, bytes, input, output, size, op, stream),
                        stream, debug);
}

template <typename Config = default_config, typename Input, typename Output, typename Op = minus<>>
hipError_t adjacent_difference_right(void* temporary, size_t& bytes, Input input, Output output, size_t size,
                                     Op op = Op(), hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::adjacent_difference<false, false>(temporary, bytes, input, output, size, op, stream),
                        stream, debug);
}

template <typename Config = default_config, typename Items, typename Op = minus<>>
hipError_t adjacent_difference_inplace(void* temporary, size_t& bytes, Items values, size_t size, Op op = Op(),
                                       hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::adjacent_difference<true, true>(temporary, bytes, values, values, size, op, stream),
                        stream, debug);
}

template <typename Config = default_config, typename Items, typename Op = minus<>>
hipError_t adjacent_difference_right_inplace(void* temporary, size_t& bytes, Items values, size_t size, Op op = Op(),
                                             hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::adjacent_difference<false, true>(temporary, bytes, values, values, size, op, stream),
                        stream, debug);
}
}  // namespace rocprim
