// hipcub::DeviceScan: scans of all items, and of each run of equal keys.
#pragma once
#include "../../gpulab/primitives/scan.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceScan {
  template <typename Input, typename Output, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ExclusiveSum(void* temporary, size_t& bytes, Input in, Output out, Count items,
                                 hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return ExclusiveScan(temporary, bytes, in, out, p::Sum{}, p::element_of<Input>(0), items, stream, debug);
  }
  template <typename Input, typename Output, typename Op, typename T, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ExclusiveScan(void* temporary, size_t& bytes, Input in, Output out, Op op, T init, Count items,
                                  hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using Total = p::result_of<p::given_t<T>, Op, p::given_t<T>, p::element_of<Input>>;
    return p::ended(temporary, p::exclusive_scan<Total>(temporary, bytes, in, out, count(items), op, init, stream),
                    stream, debug);
  }
  template <typename Input, typename Output, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t InclusiveSum(void* temporary, size_t& bytes, Input in, Output out, Count items,
                                 hipStream_t stream = nullptr, bool debug = false) {
    return InclusiveScan(temporary, bytes, in, out, ::gpulab::primitives::Sum{}, items, stream, debug);
  }
  template <typename Input, typename Output, typename Op, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t InclusiveScan(void* temporary, size_t& bytes, Input in, Output out, Op op, Count items,
                                  hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_of<Input>;
    using Total = p::result_of<T, Op, T, T>;
    return p::ended(temporary,
                    p::inclusive_scan<Total>(temporary, bytes, in, out, count(items), op, p::Nothing{}, stream), stream,
                    debug);
  }
  template <typename Input, typename Output, typename Op, typename T, typename Count>
  static hipError_t InclusiveScanInit(void* temporary, size_t& bytes, Input in, Output out, Op op, T init, Count items,
                                      hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using Total = p::result_of<p::given_t<T>, Op, p::given_t<T>, p::element_of<Input>>;
    return p::ended(temporary, p::inclusive_scan<Total>(temporary, bytes, in, out, count(items), op, init, stream),
                    stream, debug);
  }

  // In place: the items are replaced by the results.
  template <typename Items, typename Count, typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ExclusiveSum(void* temporary, size_t& bytes, Items data, Count items, hipStream_t stream = nullptr,
                                 bool debug = false) {
    return ExclusiveSum(temporary, bytes, data, data, items, stream, debug);
  }
  template <typename Items, typename Op, typename T, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ExclusiveScan(void* temporary, size_t& bytes, Items data, Op op, T init, Count items,
                                  hipStream_t stream = nullptr, bool debug = false) {
    return ExclusiveScan(temporary, bytes, data, data, op, init, items, stream, debug);
  }
  template <typename Items, typename Count, typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t InclusiveSum(void* temporary, size_t& bytes, Items data, Count items, hipStream_t stream = nullptr,
                                 bool debug = false) {
    return InclusiveSum(temporary, bytes, data, data, items, stream, debug);
  }
  template <typename Items, typename Op, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t InclusiveScan(void* temporary, size_t& bytes, Items data, Op op, Count items,
                                  hipStream_t stream = nullptr, bool debug = false) {
    return InclusiveScan(temporary, bytes, data, data, op, items, stream, debug);
  }

  template <typename Keys, typename Values, typename Output, typename Count,
            typename Equality = ::gpulab::primitives::Equal>
  static hipError_t ExclusiveSumByKey(void* temporary, size_t& bytes, Keys keys, Values values, Output out, Count items,
                                      Equality equality = Equality(), hipStream_t stream = nullptr,
                                      bool debug = false) {
    namespace p = ::gpulab::primitives;
    return ExclusiveScanByKey(temporary, bytes, keys, values, out, p::Sum{}, p::element_of<Values>(0), items, equality,
                              stream, debug);
  }
  template <typename Keys, typename Values, typename Output, typename Op, typename T, typename Count,
            typename Equality = ::gpulab::primitives::Equal>
  static hipError_t ExclusiveScanByKey(void* temporary, size_t& bytes, Keys keys, Values values, Output out, Op op,
                                       T init, Count items, Equality equality = Equality(),
                                       hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using Total = p::result_of<p::given_t<T>, Op, p::given_t<T>, p::element_of<Values>>;
    return p::ended(
        temporary,
        p::exclusive_scan_by_key<Total>(temporary, bytes, keys, values, out, count(items), op, init, equality, stream),
        stream, debug);
  }
  template <typename Keys, typename Values, typename Output, typename Count,
            typename Equality = ::gpulab::primitives::Equal>
  static hipError_t InclusiveSumByKey(void* temporary, size_t& bytes, Keys keys, Values values, Output out, Count items,
                                      Equality equality = Equality(), hipStream_t stream = nullptr,
                                      bool debug = false) {
    return InclusiveScanByKey(temporary, bytes, keys, values, out, ::gpulab::primitives::Sum{}, items, equality, stream,
                              debug);
  }
  template <typename Keys, typename Values, typename Output, typename Op, typename Count,
            typename Equality = ::gpulab::primitives::Equal>
  static hipError_t InclusiveScanByKey(void* temporary, size_t& bytes, Keys keys, Values values, Output out, Op op,
                                       Count items, Equality equality = Equality(), hipStream_t stream = nullptr,
                                       bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_of<Values>;
    using Total = p::result_of<T, Op, T, T>;
    return p::ended(
        temporary,
        p::inclusive_scan_by_key<Total>(temporary, bytes, keys, values, out, count(items), op, equality, stream),
        stream, debug);
  }

 private:
  template <typename Count>
  static uint64_t count(Count items) {
    return static_cast<uint64_t>(items);
  }
};
}  // namespace hipcub
