// hipcub::DeviceSelect: items that satisfy a condition, or that differ from the one before them.
#pragma once
#include "../../gpulab/primitives/select.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceSelect {
  template <typename Input, typename Flags, typename Output, typename Selected, typename Count>
  static hipError_t Flagged(void* temporary, size_t& bytes, Input in, Flags flags, Output out, Selected selected,
                            Count items, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return run(temporary, bytes, p::Flagged<Flags>{flags}, p::Keep<Input, Output>{in, out}, selected, items, stream,
               debug);
  }
  template <typename Input, typename Output, typename Selected, typename Count, typename Predicate,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t If(void* temporary, size_t& bytes, Input in, Output out, Selected selected, Count items,
                       Predicate predicate, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return run(temporary, bytes, p::Satisfying<Input, Predicate>{in, predicate}, p::Keep<Input, Output>{in, out},
               selected, items, stream, debug);
  }
  // By a condition on flags beside the items.
  template <typename Input, typename Flags, typename Output, typename Selected, typename Count, typename Predicate>
  static hipError_t FlaggedIf(void* temporary, size_t& bytes, Input in, Flags flags, Output out, Selected selected,
                              Count items, Predicate predicate, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return run(temporary, bytes, p::FlagsSatisfying<Flags, Predicate>{flags, predicate},
               p::Keep<Input, Output>{in, out}, selected, items, stream, debug);
  }
  template <typename Input, typename Output, typename Selected, typename Count,
            typename Equality = ::gpulab::primitives::Equal>
  static hipError_t Unique(void* temporary, size_t& bytes, Input in, Output out, Selected selected, Count items,
                           hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return run(temporary, bytes, p::Heads<Input, Equality>{in, Equality()}, p::Keep<Input, Output>{in, out}, selected,
               items, stream, debug);
  }
  // The first pair of each run of equal keys.
  template <typename Keys, typename Values, typename KeysOut, typename ValuesOut, typename Selected, typename Count,
            typename Equality = ::gpulab::primitives::Equal,
            typename = typename ::gpulab::enable_if<__is_class(Equality)>::type>
  static hipError_t UniqueByKey(void* temporary, size_t& bytes, Keys keys, Values values, KeysOut keys_out,
                                ValuesOut values_out, Selected selected, Count items, Equality equality,
                                hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return run(temporary, bytes, p::Heads<Keys, Equality>{keys, equality},
               p::KeepPair<Keys, Values, KeysOut, ValuesOut>{keys, values, keys_out, values_out}, selected, items,
               stream, debug);
  }
  template <typename Keys, typename Values, typename KeysOut, typename ValuesOut, typename Selected, typename Count>
  static hipError_t UniqueByKey(void* temporary, size_t& bytes, Keys keys, Values values, KeysOut keys_out,
                                ValuesOut values_out, Selected selected, Count items, hipStream_t stream = nullptr,
                                bool debug = false) {
    return UniqueByKey(temporary, bytes, keys, values, keys_out, values_out, selected, items,
                       ::gpulab::primitives::Equal{}, stream, debug);
  }

  // In place: what is selected comes to the front.
  template <typename Items, typename Flags, typename Selected, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t Flagged(void* temporary, size_t& bytes, Items data, Flags flags, Selected selected, Count items,
                            hipStream_t stream = nullptr) {
    namespace p = ::gpulab::primitives;
    return p::select_in_place(temporary, bytes, p::Flagged<Flags>{flags}, data, selected, static_cast<uint64_t>(items),
                              stream);
  }
  template <typename Items, typename Selected, typename Count, typename Predicate,
            typename = typename ::gpulab::enable_if<__is_integral(Count) && __is_class(Predicate)>::type>
  static hipError_t If(void* temporary, size_t& bytes, Items data, Selected selected, Count items, Predicate predicate,
                       hipStream_t stream = nullptr) {
    namespace p = ::gpulab::primitives;
    return p::select_in_place(temporary, bytes, p::Satisfying<Items, Predicate>{data, predicate}, data, selected,
                              static_cast<uint64_t>(items), stream);
  }
  template <typename Items, typename Flags, typename Selected, typename Count, typename Predicate,
            typename = typename ::gpulab::enable_if<__is_integral(Count) && __is_class(Predicate)>::type>
  static hipError_t FlaggedIf(void* temporary, size_t& bytes, Items data, Flags flags, Selected selected, Count items,
                              Predicate predicate, hipStream_t stream = nullptr) {
    namespace p = ::gpulab::primitives;
    return p::select_in_place(temporary, bytes, p::FlagsSatisfying<Flags, Predicate>{flags, predicate}, data, selected,
                              static_cast<uint64_t>(items), stream);
  }

 private:
  template <typename Condition, typename Sink, typename Selected, typename Count>
  static hipError_t run(void* temporary, size_t& bytes, Condition condition, Sink sink, Selected selected, Count items,
                        hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    return p::ended(temporary,
                    p::select(temporary, bytes, condition, sink, selected, static_cast<uint64_t>(items), stream),
                    stream, debug);
  }
};
}  // namespace hipcub
