// rocprim::transform: a function of each item, or of two.
#pragma once
#include "../../gpulab/primitives/launching.h"
#include "../iterators.hpp"

namespace rocprim {

namespace transforming {
template <typename Input, typename Output, typename Function>
struct One {
  Input input;
  Output output;
  Function function;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) { gpulab_::at(output, i) = function(gpulab_::at(input, i)); }
};
template <typename TypeA, typename TypeB, typename Output, typename Function>
struct Two {
  TypeA a;
  TypeB b;
  Output output;
  Function function;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) {
    gpulab_::at(output, i) = function(gpulab_::at(a, i), gpulab_::at(b, i));
  }
};
}  // namespace transforming
template <typename Config = default_config, typename Input, typename Output, typename Function>
hipError_t transform(Input input, Output output, size_t size, Function transform_op, hipStream_t stream = nullptr,
                     bool debug = false) {
  hipError_t result =
      gpulab_::for_each_index(size, transforming::One<Input, Output, Function>{input, output, transform_op}, stream);
  return gpulab_::ended(&result, result, stream, debug);
}
template <typename Config = default_config, typename TypeA, typename TypeB, typename Output, typename Function,
          typename = typename ::gpulab::enable_if<__is_class(Function)>::type>
hipError_t transform(TypeA input1, TypeB input2, Output output, size_t size, Function transform_op,
                     hipStream_t stream = nullptr, bool debug = false) {
  hipError_t result = gpulab_::for_each_index(
      size, transforming::Two<TypeA, TypeB, Output, Function>{input1, input2, output, transform_op}, stream);
  return gpulab_::ended(&result, result, stream, debug);
}
}  // namespace rocprim
