// rocPRIM's partitions: what is selected in front, the rest from the end on, backwards; or apart.
#pragma once
#include "../../gpulab/primitives/select.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Flags, typename Output, typename Selected,
          typename = typename ::gpulab::enable_if<!__is_integral(Selected)>::type>
hipError_t partition(void* temporary, size_t& bytes, Input input, Flags flags, Output output, Selected selected_count,
                     size_t size, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(
      temporary,
      gpulab_::select(temporary, bytes, gpulab_::Flagged<Flags>{flags},
                      gpulab_::Split<Input, Output>{input, output, size}, selected_count, size, stream),
      stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Selected, typename Predicate,
          typename = typename ::gpulab::enable_if<__is_class(Predicate)>::type>
hipError_t partition(void* temporary, size_t& bytes, Input input, Output output, Selected selected_count, size_t size,
                     Predicate predicate, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(
      temporary,
      gpulab_::select(temporary, bytes, gpulab_::Satisfying<Input, Predicate>{input, predicate},
                      gpulab_::Split<Input, Output>{input, output, size}, selected_count, size, stream),
      stream, debug);
}
// Two outputs, each in order.
template <typename Config = default_config, typename Input, typename Flags, typename Output, typename Others,
          typename Selected, typename = typename ::gpulab::enable_if<!__is_integral(Selected)>::type>
hipError_t partition_two_way(void* temporary, size_t& bytes, Input input, Flags flags, Output selected, Others rejected,
                             Selected selected_count, size_t size, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::select(temporary, bytes, gpulab_::Flagged<Flags>{flags},
                                        gpulab_::SplitApart<Input, Output, Others>{input, selected, rejected},
                                        selected_count, size, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Input, typename Output, typename Others, typename Selected,
          typename Predicate, typename = typename ::gpulab::enable_if<__is_class(Predicate)>::type>
hipError_t partition_two_way(void* temporary, size_t& bytes, Input input, Output selected, Others rejected,
                             Selected selected_count, size_t size, Predicate predicate, hipStream_t stream = nullptr,
                             bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::select(temporary, bytes, gpulab_::Satisfying<Input, Predicate>{input, predicate},
                                        gpulab_::SplitApart<Input, Output, Others>{input, selected, rejected},
                                        selected_count, size, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Input, typename First, typename Second, typename Rest,
          typename Selected, typename FirstPredicate, typename SecondPredicate>
hipError_t partition_three_way(void* temporary, size_t& bytes, Input input, First first, Second second, Rest unselected,
                               Selected selected_counts, size_t size, FirstPredicate first_predicate,
                               SecondPredicate second_predicate, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::partition_three(temporary, bytes, input, first, second, unselected, selected_counts,
                                                 size, first_predicate, second_predicate, stream),
                        stream, debug);
}
}  // namespace rocprim
