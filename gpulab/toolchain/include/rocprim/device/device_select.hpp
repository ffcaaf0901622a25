// rocPRIM's selections: by a condition, by flags, and the first item of each run.
#pragma once
#include "../../gpulab/primitives/select.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Flags, typename Output, typename Selected,
          typename = typename ::gpulab::enable_if<!__is_integral(Selected)>::type>
hipError_t select(void* temporary, size_t& bytes, Input input, Flags flags, Output output, Selected selected_count,
                  size_t size, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::select(temporary, bytes, gpulab_::Flagged<Flags>{flags},
                                        gpulab_::Keep<Input, Output>{input, output}, selected_count, size, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Selected, typename Predicate,
          typename = typename ::gpulab::enable_if<__is_class(Predicate)>::type>
hipError_t select(void* temporary, size_t& bytes, Input input, Output output, Selected selected_count, size_t size,
                  Predicate predicate, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::select(temporary, bytes, gpulab_::Satisfying<Input, Predicate>{input, predicate},
                                        gpulab_::Keep<Input, Output>{input, output}, selected_count, size, stream),
                        stream, debug);
}
// By a condition on flags beside the items.
template <typename Config = default_config, typename Input, typename Flags, typename Output, typename Selected,
          typename Predicate, typename = typename ::gpulab::enable_if<__is_class(Predicate)>::type>
hipError_t select(void* temporary, size_t& bytes, Input input, Flags flags, Output output, Selected selected_count,
                  size_t size, Predicate predicate, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::select(temporary, bytes, gpulab_::FlagsSatisfying<Flags, Predicate>{flags, predicate},
                                        gpulab_::Keep<Input, Output>{input, output}, selected_count, size, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Count,
          typename Equality = equal_to<gpulab_::element_of<Input>>>
hipError_t unique(void* temporary, size_t& bytes, Input input, Output output, Count unique_count, size_t size,
                  Equality equality = Equality(), hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::select(temporary, bytes, gpulab_::Heads<Input, Equality>{input, equality},
                                        gpulab_::Keep<Input, Output>{input, output}, unique_count, size, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Keys, typename Values, typename KeysOut, typename ValuesOut,
          typename Count, typename Equality = equal_to<gpulab_::element_of<Keys>>>
hipError_t unique_by_key(void* temporary, size_t& bytes, Keys keys_input, Values values_input, KeysOut keys_output,
                         ValuesOut values_output, Count unique_count, size_t size, Equality equality = Equality(),
                         hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::select(temporary, bytes, gpulab_::Heads<Keys, Equality>{keys_input, equality},
                                        gpulab_::KeepPair<Keys, Values, KeysOut, ValuesOut>{keys_input, values_input,
                                                                                            keys_output, values_output},
                                        unique_count, size, stream),
                        stream, debug);
}
}  // namespace rocprim
