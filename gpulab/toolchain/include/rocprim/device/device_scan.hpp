// rocPRIM's scans of all items, and of runs of equal keys. All of them give the same result each time.
#pragma once
#include "../../gpulab/primitives/scan.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Output,
          typename Op = plus<gpulab_::element_of<Input>>,
          typename = decltype(gpulab_::declare<Op&>()(*gpulab_::declare<Input&>(), *gpulab_::declare<Input&>()))>
hipError_t inclusive_scan(void* temporary, size_t& bytes, Input input, Output output, size_t size, Op op = Op(),
                          hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::element_of<Input>, Op, gpulab_::element_of<Input>, gpulab_::element_of<Input>>;
  return gpulab_::ended(
      temporary, gpulab_::inclusive_scan<T>(temporary, bytes, input, output, size, op, gpulab_::Nothing{}, stream),
      stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Init,
          typename Op = plus<gpulab_::element_of<Input>>>
hipError_t exclusive_scan(void* temporary, size_t& bytes, Input input, Output output, Init initial_value, size_t size,
                          Op op = Op(), hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::given_t<Init>, Op, gpulab_::given_t<Init>, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::exclusive_scan<T>(temporary, bytes, input, output, size, op, initial_value, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Keys, typename Input, typename Output,
          typename Op = plus<gpulab_::element_of<Input>>, typename Equality = equal_to<gpulab_::element_of<Keys>>>
hipError_t inclusive_scan_by_key(void* temporary, size_t& bytes, Keys keys, Input input, Output output, size_t size,
                                 Op op = Op(), Equality equality = Equality(), hipStream_t stream = nullptr,
                                 bool debug = false) {
  using T = gpulab_::result_of<gpulab_::element_of<Input>, Op, gpulab_::element_of<Input>, gpulab_::element_of<Input>>;
  return gpulab_::ended(
      temporary, gpulab_::inclusive_scan_by_key<T>(temporary, bytes, keys, input, output, size, op, equality, stream),
      stream, debug);
}
template <typename Config = default_config, typename Keys, typename Input, typename Output, typename Init,
          typename Op = plus<gpulab_::element_of<Input>>, typename Equality = equal_to<gpulab_::element_of<Keys>>>
hipError_t exclusive_scan_by_key(void* temporary, size_t& bytes, Keys keys, Input input, Output output,
                                 Init initial_value, size_t size, Op op = Op(), Equality equality = Equality(),
                                 hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<Init, Op, Init, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::exclusive_scan_by_key<T>(temporary, bytes, keys, input, output, size, op,
                                                          initial_value, equality, stream),
                        stream, debug);
}

template <typename Config = default_config, typename Input, typename Output, typename Init, typename Op>
hipError_t inclusive_scan(void* temporary, size_t& bytes, Input input, Output output, Init initial_value, size_t size,
                          Op op, hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::given_t<Init>, Op, gpulab_::given_t<Init>, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::inclusive_scan<T>(temporary, bytes, input, output, size, op, initial_value, stream),
                        stream, debug);
}

template <typename Config = default_config, typename Input, typename Output,
          typename Op = plus<gpulab_::element_of<Input>>,
          typename = decltype(gpulab_::declare<Op&>()(*gpulab_::declare<Input&>(), *gpulab_::declare<Input&>()))>
hipError_t deterministic_inclusive_scan(void* temporary, size_t& bytes, Input input, Output output, size_t size,
                                        Op op = Op(), hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::element_of<Input>, Op, gpulab_::element_of<Input>, gpulab_::element_of<Input>>;
  return gpulab_::ended(
      temporary, gpulab_::inclusive_scan<T>(temporary, bytes, input, output, size, op, gpulab_::Nothing{}, stream),
      stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Init,
          typename Op = plus<gpulab_::element_of<Input>>>
hipError_t deterministic_exclusive_scan(void* temporary, size_t& bytes, Input input, Output output, Init initial_value,
                                        size_t size, Op op = Op(), hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::given_t<Init>, Op, gpulab_::given_t<Init>, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::exclusive_scan<T>(temporary, bytes, input, output, size, op, initial_value, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Keys, typename Input, typename Output,
          typename Op = plus<gpulab_::element_of<Input>>, typename Equality = equal_to<gpulab_::element_of<Keys>>>
hipError_t deterministic_inclusive_scan_by_key(void* temporary, size_t& bytes, Keys keys, Input input, Output output,
                                               size_t size, Op op = Op(), Equality equality = Equality(),
                                               hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::element_of<Input>, Op, gpulab_::element_of<Input>, gpulab_::element_of<Input>>;
  return gpulab_::ended(
      temporary, gpulab_::inclusive_scan_by_key<T>(temporary, bytes, keys, input, output, size, op, equality, stream),
      stream, debug);
}
template <typename Config = default_config, typename Keys, typename Input, typename Output, typename Init,
          typename Op = plus<gpulab_::element_of<Input>>, typename Equality = equal_to<gpulab_::element_of<Keys>>>
hipError_t deterministic_exclusive_scan_by_key(void* temporary, size_t& bytes, Keys keys, Input input, Output output,
                                               Init initial_value, size_t size, Op op = Op(),
                                               Equality equality = Equality(), hipStream_t stream = nullptr,
                                               bool debug = false) {
  using T = gpulab_::result_of<Init, Op, Init, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::exclusive_scan_by_key<T>(temporary, bytes, keys, input, output, size, op,
                                                          initial_value, equality, stream),
                        stream, debug);
}
}  // namespace rocprim
