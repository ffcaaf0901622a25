// thrust::swap, swap_ranges.
#pragma once
#include "for_each.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename T>
constexpr void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}
namespace detail {
/// The elements that two iterators refer to change places.
template <typename First, typename Second>
void exchange(First a, Second b) {
  iterator_value_t<First> kept = *a;
  *a = *b;
  *b = kept;
}
}  // namespace detail
template <typename Policy, typename First, typename Second>
Second swap_ranges(const execution_policy<Policy>& policy, First first, First last, Second second) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::for_indices(policy, count, [a = detail::unwrap(first), b = detail::unwrap(second)](size_t i) mutable {
      detail::exchange(a + i, b + i);
    });
    return second + count;
  } else {
    for (; first != last; ++first, ++second) detail::exchange(first, second);
    return second;
  }
}
template <typename First, typename Second>
Second swap_ranges(First first, First last, Second second) {
  return thrust::swap_ranges(detail::select<First, Second>(), first, last, second);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
