// hipCUB's operators beside Sum, Max, Min, ArgMax, ArgMin and Difference, which config.hpp has.
#pragma once
#include "../config.hpp"

namespace hipcub {
using Equality = ::gpulab::primitives::Equal;
struct Inequality {
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ bool operator()(const TypeA& a, const TypeB& b) const {
    return !(a == b);
  }
};
template <typename Op>
struct InequalityWrapper {
  Op op;
  explicit __GPULAB_OPERATOR__ InequalityWrapper(Op equality) : op(equality) {}
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ bool operator()(const TypeA& a, const TypeB& b) const {
    return !op(a, b);
  }
};
struct Division {
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ auto operator()(const TypeA& a, const TypeB& b) const
      -> ::gpulab::primitives::bare<decltype(a / b)> {
    return a / b;
  }
};
using Identity = ::gpulab::primitives::Identity;
template <typename TypeB>
struct CastOp {
  template <typename TypeA>
  __GPULAB_OPERATOR__ TypeB operator()(const TypeA& a) const {
    return static_cast<TypeB>(a);
  }
};
// The operator with its arguments the other way round.
template <typename Op>
struct SwizzleScanOp {
  Op op;
  explicit __GPULAB_OPERATOR__ SwizzleScanOp(Op given) : op(given) {}
  template <typename T>
  __GPULAB_OPERATOR__ T operator()(const T& a, const T& b) const {
    T first(a), second(b);
    return op(second, first);
  }
};
template <typename Op>
struct BinaryFlip {
  Op binary_op;
  explicit __GPULAB_OPERATOR__ BinaryFlip(Op given) : binary_op(given) {}
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ decltype(auto) operator()(TypeA&& a, TypeB&& b) {
    return binary_op(static_cast<TypeB&&>(b), static_cast<TypeA&&>(a));
  }
};
template <typename Op>
__GPULAB_BOTH__ BinaryFlip<Op> MakeBinaryFlip(Op given) {
  return BinaryFlip<Op>(given);
}
// Of pairs (count of segment heads, value): the values of one segment alone are combined.
template <typename Op>
struct ReduceBySegmentOp {
  Op op;
  __GPULAB_OPERATOR__ ReduceBySegmentOp() : op() {}
  explicit __GPULAB_OPERATOR__ ReduceBySegmentOp(Op given) : op(given) {}
  template <typename Pair>
  __GPULAB_OPERATOR__ Pair operator()(const Pair& a, const Pair& b) const {
    Pair made(b);
    made.key = a.key + b.key;
    made.value = b.key ? b.value : op(a.value, b.value);
    return made;
  }
};
template <typename Op>
struct ReduceByKeyOp {
  Op op;
  __GPULAB_OPERATOR__ ReduceByKeyOp() : op() {}
  explicit __GPULAB_OPERATOR__ ReduceByKeyOp(Op given) : op(given) {}
  template <typename Pair>
  __GPULAB_OPERATOR__ Pair operator()(const Pair& a, const Pair& b) const {
    Pair made(b);
    if (a.key == b.key) made.value = op(a.value, b.value);
    return made;
  }
};
}  // namespace hipcub
