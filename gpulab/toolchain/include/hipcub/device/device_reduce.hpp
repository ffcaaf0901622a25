// hipcub::DeviceReduce: one result of all items, or one of each run of equal keys.
#pragma once
#include "../../gpulab/primitives/reduce.h"
#include "../../gpulab/primitives/runs.h"
#include "../config.hpp"
#include "../iterator/arg_index_input_iterator.hpp"
#include "../iterator/transform_input_iterator.hpp"

namespace hipcub {
struct DeviceReduce {
  template <typename Input, typename Output, typename Op, typename T, typename Count>
  static hipError_t Reduce(void* temporary, size_t& bytes, Input in, Output out, Count items, Op op, T init,
                           hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using Total = p::result_of<p::given_t<T>, Op, p::given_t<T>, p::element_of<Input>>;
    return reduce<Total>(temporary, bytes, in, out, items, op, init, stream, debug);
  }
  template <typename Input, typename Output, typename Count>
  static hipError_t Sum(void* temporary, size_t& bytes, Input in, Output out, Count items, hipStream_t stream = nullptr,
                        bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_or<Output, p::element_of<Input>>;
    return Reduce(temporary, bytes, in, out, items, p::Sum{}, T(0), stream, debug);
  }
  template <typename Input, typename Output, typename Count>
  static hipError_t Min(void* temporary, size_t& bytes, Input in, Output out, Count items, hipStream_t stream = nullptr,
                        bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_of<Input>;
    return reduce<T>(temporary, bytes, in, out, items, p::Min{}, p::IfEmpty<T>{p::largest<T>()}, stream, debug);
  }
  template <typename Input, typename Output, typename Count>
  static hipError_t Max(void* temporary, size_t& bytes, Input in, Output out, Count items, hipStream_t stream = nullptr,
                        bool debug = false) {
    namespace p = ::gpulab::primitives;
    using T = p::element_of<Input>;
    return reduce<T>(temporary, bytes, in, out, items, p::Max{}, p::IfEmpty<T>{p::lowest<T>()}, stream, debug);
  }

  // The smallest item with its place, as KeyValuePair<int, T>; of no items {1, the type's largest number}.
  template <typename Input, typename Output, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ArgMin(void* temporary, size_t& bytes, Input in, Output out, Count items,
                           hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return arg(temporary, bytes, in, StorePair<Output>{out}, items, p::ArgMin{}, p::largest<p::element_of<Input>>(),
               stream, debug);
  }
  template <typename Input, typename Output, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ArgMax(void* temporary, size_t& bytes, Input in, Output out, Count items,
                           hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return arg(temporary, bytes, in, StorePair<Output>{out}, items, p::ArgMax{}, p::lowest<p::element_of<Input>>(),
               stream, debug);
  }
  // The same, value and place apart.
  template <typename Input, typename Extremum, typename Index, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ArgMin(void* temporary, size_t& bytes, Input in, Extremum out, Index index, Count items,
                           hipStream_t stream = nullptr) {
    namespace p = ::gpulab::primitives;
    return arg(temporary, bytes, in, StoreBoth<Extremum, Index>{out, index}, items, p::ArgMin{},
               p::largest<p::element_of<Input>>(), stream, false);
  }
  template <typename Input, typename Extremum, typename Index, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t ArgMax(void* temporary, size_t& bytes, Input in, Extremum out, Index index, Count items,
                           hipStream_t stream = nullptr) {
    namespace p = ::gpulab::primitives;
    return arg(temporary, bytes, in, StoreBoth<Extremum, Index>{out, index}, items, p::ArgMax{},
               p::lowest<p::element_of<Input>>(), stream, false);
  }

  template <typename Input, typename Output, typename Count, typename Op, typename Transform, typename T>
  static hipError_t TransformReduce(void* temporary, size_t& bytes, Input in, Output out, Count items, Op op,
                                    Transform transform, T init, hipStream_t stream = nullptr, bool debug = false) {
    using Value = ::gpulab::primitives::bare<decltype(transform(*in))>;
    return Reduce(temporary, bytes, TransformInputIterator<Value, Transform, Input>(in, transform), out, items, op,
                  init, stream, debug);
  }

  template <typename Keys, typename UniqueKeys, typename Values, typename Aggregates, typename Runs, typename Op,
            typename Count>
  static hipError_t ReduceByKey(void* temporary, size_t& bytes, Keys keys, UniqueKeys unique, Values values,
                                Aggregates aggregates, Runs runs, Op op, Count items, hipStream_t stream = nullptr,
                                bool debug = false) {
    namespace p = ::gpulab::primitives;
    using Value = p::element_of<Values>;
    using T = p::result_of<Value, Op, Value, Value>;
    hipError_t error = p::reduce_by_key<T>(temporary, bytes, keys, unique, values, aggregates, runs, op, p::Equal{},
                                           static_cast<uint64_t>(items), stream);
    return p::ended(temporary, error, stream, debug);
  }

 private:
  template <typename T, typename Input, typename Output, typename Count, typename Op, typename Init>
  static hipError_t reduce(void* temporary, size_t& bytes, Input in, Output out, Count items, Op op, Init init,
                           hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    hipError_t error = p::reduce<T>(temporary, bytes, p::Loading<Input>{in}, p::Storing<Output>{out},
                                    static_cast<uint64_t>(items), op, init, stream);
    return p::ended(temporary, error, stream, debug);
  }
  template <typename Output>
  struct StorePair {
    Output to;
    template <typename Pair>
    __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t, const Pair& pair) const {
      using Out = ::gpulab::primitives::element_or<Output, KeyValuePair<int, typename Pair::Value>>;
      *to = Out(static_cast<decltype(Out::key)>(pair.key), static_cast<decltype(Out::value)>(pair.value));
    }
  };
  template <typename Extremum, typename Index>
  struct StoreBoth {
    Extremum to;
    Index index;
    template <typename Pair>
    __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t, const Pair& pair) const {
      *to = pair.value;
      *index = pair.key;
    }
  };
  template <typename Input, typename Store, typename Op, typename T>
  static hipError_t arg(void* temporary, size_t& bytes, Input in, Store store, uint64_t items, Op op, T extreme,
                        hipStream_t stream, bool debug) {
    namespace p = ::gpulab::primitives;
    using Pair = KeyValuePair<int64_t, T>;
    ArgIndexInputIterator<Input, int64_t, T> from(in);
    hipError_t error = p::reduce<Pair>(temporary, bytes, p::Loading<decltype(from)>{from}, store, items, op,
                                       p::IfEmpty<Pair>{Pair(1, extreme)}, stream);
    return p::ended(temporary, error, stream, debug);
  }
};
}  // namespace hipcub
