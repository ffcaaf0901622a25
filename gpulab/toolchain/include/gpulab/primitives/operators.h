// Operators and small types that hipCUB, rocPRIM and Thrust share.
#pragma once
#include "basics.h"

namespace gpulab {
namespace primitives {

#define __GPULAB_OPERATOR__ __host__ __device__ inline __attribute__((always_inline, nodebug)) constexpr

struct Sum {
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ auto operator()(const TypeA& a, const TypeB& b) const -> bare<decltype(a + b)> {
    return a + b;
  }
};
struct Difference {
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ auto operator()(const TypeA& a, const TypeB& b) const -> bare<decltype(a - b)> {
    return a - b;
  }
};
// Of two types the common one, as C++ chooses it for a condition.
struct Max {
  template <typename T>
  __GPULAB_OPERATOR__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ auto operator()(const TypeA& a, const TypeB& b) const -> bare<decltype(a < b ? b : a)> {
    return a < b ? b : a;
  }
};
struct Min {
  template <typename T>
  __GPULAB_OPERATOR__ T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ auto operator()(const TypeA& a, const TypeB& b) const -> bare<decltype(b < a ? b : a)> {
    return b < a ? b : a;
  }
};
struct Equal {
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ bool operator()(const TypeA& a, const TypeB& b) const {
    return a == b;
  }
};
struct Less {
  template <typename TypeA, typename TypeB>
  __GPULAB_OPERATOR__ bool operator()(const TypeA& a, const TypeB& b) const {
    return a < b;
  }
};
struct Identity {
  template <typename T>
  __GPULAB_OPERATOR__ T operator()(const T& a) const {
    return a;
  }
};

// No values beside the keys.
struct NoValues {};

// A value with the number of its place, or any key.
template <typename KeyT, typename ValueT>
struct KeyValue {
  using Key = KeyT;
  using Value = ValueT;
  KeyT key;
  ValueT value;
  KeyValue() = default;
  __GPULAB_OPERATOR__ KeyValue(const KeyT& k, const ValueT& v) : key(k), value(v) {}
  __GPULAB_OPERATOR__ bool operator==(const KeyValue& other) const { return key == other.key && value == other.value; }
  __GPULAB_OPERATOR__ bool operator!=(const KeyValue& other) const { return !(*this == other); }
};
// The pair with the largest value; of equal values the first, by their keys.
struct ArgMax {
  template <typename KeyT, typename ValueT>
  __GPULAB_OPERATOR__ KeyValue<KeyT, ValueT> operator()(const KeyValue<KeyT, ValueT>& a,
                                                        const KeyValue<KeyT, ValueT>& b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <typename KeyT, typename ValueT>
  __GPULAB_OPERATOR__ KeyValue<KeyT, ValueT> operator()(const KeyValue<KeyT, ValueT>& a,
                                                        const KeyValue<KeyT, ValueT>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

// A value that the kernel reads from the device's memory, or that came with the call.
template <typename T, typename Iterator = T*>
struct Future {
  using value_type = T;
  Iterator place;
  explicit __GPULAB_MEMBER__ Future(Iterator from) : place(from) {}
  __GPULAB_MEMBER__ operator T() const { return *place; }
};
template <typename T>
struct given {
  using type = T;
};
template <typename T, typename Iterator>
struct given<Future<T, Iterator>> {
  using type = T;
};
template <typename T>
using given_t = typename given<bare<T>>::type;

}  // namespace primitives
}  // namespace gpulab
