// rocprim::reduce: one result of all items.
#pragma once
#include "../../gpulab/primitives/reduce.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Output, typename Init,
          typename Op = plus<gpulab_::element_of<Input>>>
hipError_t reduce(void* temporary, size_t& bytes, Input input, Output output, Init initial_value, size_t size,
                  Op op = Op(), hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::given_t<Init>, Op, gpulab_::given_t<Init>, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::reduce<T>(temporary, bytes, gpulab_::Loading<Input>{input},
                                           gpulab_::Storing<Output>{output}, size, op, initial_value, stream),
                        stream, debug);
}
// Without an initial value: of no items, a value whose bytes are zero.
template <typename Config = default_config, typename Input, typename Output,
          typename Op = plus<gpulab_::element_of<Input>>,
          typename = decltype(gpulab_::declare<Op&>()(*gpulab_::declare<Input&>(), *gpulab_::declare<Input&>()))>
hipError_t reduce(void* temporary, size_t& bytes, Input input, Output output, size_t size, Op op = Op(),
                  hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::element_of<Input>, Op, gpulab_::element_of<Input>, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::reduce<T>(temporary, bytes, gpulab_::Loading<Input>{input},
                                           gpulab_::Storing<Output>{output}, size, op, gpulab_::IfEmpty<T>{}, stream),
                        stream, debug);
}
}  // namespace rocprim
