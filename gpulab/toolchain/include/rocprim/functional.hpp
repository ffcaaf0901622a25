// rocPRIM's operators, for one type, or (T = void) for all.
#pragma once
#include "config.hpp"

namespace rocprim {
#define __GPULAB_FUNCTION_OBJECT__(name, result, expression)                                   \
  template <typename T = void>                                                                 \
  struct name {                                                                                \
    __GPULAB_OPERATOR__ result operator()(const T& a, const T& b) const { return expression; } \
  };                                                                                           \
  template <>                                                                                  \
  struct name<void> {                                                                          \
    template <typename TypeA, typename TypeB>                                                  \
    __GPULAB_OPERATOR__ auto operator()(const TypeA& a, const TypeB& b) const {                \
      return expression;                                                                       \
    }                                                                                          \
  };
__GPULAB_FUNCTION_OBJECT__(plus, T, a + b)
__GPULAB_FUNCTION_OBJECT__(minus, T, a - b)
__GPULAB_FUNCTION_OBJECT__(multiplies, T, a* b)
__GPULAB_FUNCTION_OBJECT__(maximum, T, a < b ? b : a)
__GPULAB_FUNCTION_OBJECT__(minimum, T, a < b ? a : b)
__GPULAB_FUNCTION_OBJECT__(less, bool, a < b)
__GPULAB_FUNCTION_OBJECT__(less_equal, bool, a <= b)
__GPULAB_FUNCTION_OBJECT__(greater, bool, a > b)
__GPULAB_FUNCTION_OBJECT__(greater_equal, bool, a >= b)
__GPULAB_FUNCTION_OBJECT__(equal_to, bool, a == b)
__GPULAB_FUNCTION_OBJECT__(not_equal_to, bool, !(a == b))
#undef __GPULAB_FUNCTION_OBJECT__
template <typename T = void>
struct identity {
  __GPULAB_OPERATOR__ T operator()(const T& a) const { return a; }
};
template <>
struct identity<void> : ::gpulab::primitives::Identity {};
template <typename Equality>
struct inequality_wrapper {
  Equality op;
  __GPULAB_OPERATOR__ inequality_wrapper(Equality given = Equality()) : op(given) {}
  template <typename T>
  __GPULAB_OPERATOR__ bool operator()(const T& a, const T& b) const {
    return !op(a, b);
  }
  template <typename T>
  __GPULAB_OPERATOR__ bool operator()(const T& a, const T& b, unsigned int) const {
    return !op(a, b);
  }
};
using arg_max = ::gpulab::primitives::ArgMax;
using arg_min = ::gpulab::primitives::ArgMin;

template <typename T>
__GPULAB_BOTH__ constexpr T max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T>
__GPULAB_BOTH__ constexpr T min(const T& a, const T& b) {
  return a < b ? a : b;
}
template <typename T>
__GPULAB_BOTH__ void swap(T& a, T& b) {
  T kept = a;
  a = b;
  b = kept;
}
}  // namespace rocprim
