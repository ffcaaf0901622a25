// hipcub::DeviceSegmentedReduce: one result of each segment of the items.
#pragma once
#include "../../gpulab/primitives/reduce.h"
#include "../config.hpp"
#include "../iterator/arg_index_input_iterator.hpp"

namespace hipcub {
struct DeviceSegmentedReduce {
  template <typename Input, typename Output, typename Begins, typename Ends, typename Op, typename T>
  static hipError_t Reduce(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                           Ends ends, Op op, T init, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using Total = p::result_of<T, Op, T, p::element_of<Input>>;
    return run<Total>(temporary, bytes, in, out, segments, begins, ends, op, init, stream, debug);
  }
  template <typename Input, typename Output, typename Begins, typename Ends>
  static hipError_t Sum(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                        Ends ends, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_or<Output, p::element_of<Input>>;
    return Reduce(temporary, bytes, in, out, segments, begins, ends, p::Sum{}, T(0), stream, debug);
  }
  template <typename Input, typename Output, typename Begins, typename Ends>
  static hipError_t Min(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                        Ends ends, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_of<Input>;
    return run<T>(temporary, bytes, in, out, segments, begins, ends, p::Min{}, p::IfEmpty<T>{p::largest<T>()}, stream,
                  debug);
  }
  template <typename Input, typename Output, typename Begins, typename Ends>
  static hipError_t Max(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                        Ends ends, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_of<Input>;
    return run<T>(temporary, bytes, in, out, segments, begins, ends, p::Max{}, p::IfEmpty<T>{p::lowest<T>()}, stream,
                  debug);
  }
  // The smallest item of each segment with its place there; of an empty one {1, the type's largest number}.
  template <typename Input, typename Output, typename Begins, typename Ends>
  static hipError_t ArgMin(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                           Ends ends, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return arg(temporary, bytes, in, out, segments, begins, ends, p::ArgMin{}, p::largest<p::element_of<Input>>(),
               stream, debug);
  }
  template <typename Input, typename Output, typename Begins, typename Ends>
  static hipError_t ArgMax(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                           Ends ends, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return arg(temporary, bytes, in, out, segments, begins, ends, p::ArgMax{}, p::lowest<p::element_of<Input>>(),
               stream, debug);
  }

 private:
  template <typename T, typename Input, typename Output, typename Begins, typename Ends, typename Op, typename Init>
  static hipError_t run(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                        Ends ends, Op op, Init init, hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    if (segments < 0 || segments >> 32 != 0) return hipErrorInvalidValue;
    return p::ended(temporary,
                    p::reduce_by_segment<T>(temporary, bytes, p::Loading<Input>{in}, p::StoringSegment<Output>{out},
                                            static_cast<unsigned int>(segments), begins, ends, op, init, stream),
                    stream, debug);
  }
  template <typename Output>
  struct StorePlace {
    Output to;
    template <typename Pair>
    __GPULAB_DEVICE_MEMBER__ void operator()(unsigned int segment, uint64_t begin, bool empty, const Pair& pair) const {
      using Out = ::gpulab::primitives::element_or<Output, KeyValuePair<int, typename Pair::Value>>;
      int64_t place = empty ? pair.key : pair.key - static_cast<int64_t>(begin);
      *(to + segment) = Out(static_cast<decltype(Out::key)>(place), static_cast<decltype(Out::value)>(pair.value));
    }
  };
  template <typename Input, typename Output, typename Begins, typename Ends, typename Op, typename T>
  static hipError_t arg(void* temporary, size_t& bytes, Input in, Output out, int64_t segments, Begins begins,
                        Ends ends, Op op, T extreme, hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    if (segments < 0 || segments >> 32 != 0) return hipErrorInvalidValue;
    using Pair = KeyValuePair<int64_t, T>;
    ArgIndexInputIterator<Input, int64_t, T> from(in);
    return p::ended(temporary,
                    p::reduce_by_segment<Pair>(temporary, bytes, p::Loading<decltype(from)>{from},
                                               StorePlace<Output>{out}, static_cast<unsigned int>(segments), begins,
                                               ends, op, p::IfEmpty<Pair>{Pair(1, extreme)}, stream),
                    stream, debug);
  }
};
}  // namespace hipcub
