// hipcub::DevicePartition: what satisfies a condition in front, the rest from the end on, backwards; or three ways.
#pragma once
#include "../../gpulab/primitives/select.h"
#include "../config.hpp"

namespace hipcub {
struct DevicePartition {
  template <typename Input, typename Flags, typename Output, typename Selected, typename Count>
  static hipError_t Flagged(void* temporary, size_t& bytes, Input in, Flags flags, Output out, Selected selected,
                            Count items, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    uint64_t n = static_cast<uint64_t>(items);
    return p::ended(
        temporary,
        p::select(temporary, bytes, p::Flagged<Flags>{flags}, p::Split<Input, Output>{in, out, n}, selected, n, stream),
        stream, debug);
  }
  template <typename Input, typename Output, typename Selected, typename Count, typename Predicate>
  static hipError_t If(void* temporary, size_t& bytes, Input in, Output out, Selected selected, Count items,
                       Predicate predicate, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    uint64_t n = static_cast<uint64_t>(items);
    return p::ended(temporary,
                    p::select(temporary, bytes, p::Satisfying<Input, Predicate>{in, predicate},
                              p::Split<Input, Output>{in, out, n}, selected, n, stream),
                    stream, debug);
  }
  // What satisfies the first condition; what satisfies the second and not the first; the rest. Each in order.
  template <typename Input, typename First, typename Second, typename Rest, typename Selected, typename Count,
            typename FirstPredicate, typename SecondPredicate,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t If(void* temporary, size_t& bytes, Input in, First first_out, Second second_out,
                       Rest unselected_out, Selected selected, Count items, FirstPredicate first,
                       SecondPredicate second, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return p::ended(temporary,
                    p::partition_three(temporary, bytes, in, first_out, second_out, unselected_out, selected,
                                       static_cast<uint64_t>(items), first, second, stream),
                    stream, debug);
  }
};
}  // namespace hipcub
