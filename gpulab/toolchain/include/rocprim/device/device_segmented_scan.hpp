// rocPRIM's scans of segments, given by offsets or by flags at their first items.
#pragma once
#include "../../gpulab/primitives/segmented_scan.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Output, typename Offsets,
          typename Op = plus<gpulab_::element_of<Input>>, typename = typename ::gpulab::enable_if<__is_class(Op)>::type>
hipError_t segmented_inclusive_scan(void* temporary, size_t& bytes, Input input, Output output, unsigned int segments,
                                    Offsets begin_offsets, Offsets end_offsets, Op op = Op(),
                                    hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::element_of<Input>, Op, gpulab_::element_of<Input>, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::scan_by_segment<T>(temporary, bytes, gpulab_::Loading<Input>{input},
                                                    gpulab_::StoringInclusive<Output>{output}, segments, begin_offsets,
                                                    end_offsets, op, gpulab_::Nothing{}, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Offsets, typename Init,
          typename Op = plus<gpulab_::element_of<Input>>>
hipError_t segmented_exclusive_scan(void* temporary, size_t& bytes, Input input, Output output, unsigned int segments,
                                    Offsets begin_offsets, Offsets end_offsets, Init initial_value, Op op = Op(),
                                    hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<Init, Op, Init, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::scan_by_segment<T>(temporary, bytes, gpulab_::Loading<Input>{input},
                                                    gpulab_::StoringExclusive<Output>{output}, segments, begin_offsets,
                                                    end_offsets, op, initial_value, stream),
                        stream, debug);
}
namespace segments {
// Equal "keys" are those without a flag: item i + 1 begins a segment if its flag is set.
struct NoFlag {
  template <typename TypeA, typename TypeB>
  __GPULAB_DEVICE_MEMBER__ bool operator()(const TypeA&, const TypeB& flag) const {
    return !static_cast<bool>(flag);
  }
};
}  // namespace segments
template <typename Config = default_config, typename Input, typename Output, typename Flags,
          typename Op = plus<gpulab_::element_of<Input>>,
          typename = typename ::gpulab::enable_if<!__is_integral(Flags)>::type>
hipError_t segmented_inclusive_scan(void* temporary, size_t& bytes, Input input, Output output, Flags head_flags,
                                    size_t size, Op op = Op(), hipStream_t stream = nullptr, bool debug = false) {
  using T = gpulab_::result_of<gpulab_::element_of<Input>, Op, gpulab_::element_of<Input>, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::inclusive_scan_by_key<T>(temporary, bytes, head_flags, input, output, size, op,
                                                          segments::NoFlag{}, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Flags, typename Init,
          typename Op = plus<gpulab_::element_of<Input>>,
          typename = typename ::gpulab::enable_if<!__is_integral(Flags)>::type>
hipError_t segmented_exclusive_scan(void* temporary, size_t& bytes, Input input, Output output, Flags head_flags,
                                    Init initial_value, size_t size, Op op = Op(), hipStream_t stream = nullptr,
                                    bool debug = false) {
  using T = gpulab_::result_of<Init, Op, Init, gpulab_::element_of<Input>>;
  return gpulab_::ended(temporary,
                        gpulab_::exclusive_scan_by_key<T>(temporary, bytes, head_flags, input, output, size, op,
                                                          initial_value, segments::NoFlag{}, stream),
                        stream, debug);
}
}  // namespace rocprim
