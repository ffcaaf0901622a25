// thrust::mismatch: the first place where two ranges differ.
#pragma once
#include "find.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename First, typename Second, typename Equal>
pair<First, Second> mismatch(const execution_policy<Policy>& policy, First first, First last, Second second,
                             Equal equal) {
  if constexpr (detail::on_device<Policy>) {
    size_t place = detail::first_index(
        policy, detail::length(first, last),
        [a = detail::unwrap(first), b = detail::unwrap(second), equal](size_t i) mutable -> bool {
          return !equal(a[i], b[i]);
        });
    return {first + place, second + place};
  } else {
    while (first != last && equal(*first, *second)) {
      ++first;
      ++second;
    }
    return {first, second};
  }
}
template <typename Policy, typename First, typename Second>
pair<First, Second> mismatch(const execution_policy<Policy>& policy, First first, First last, Second second) {
  return thrust::mismatch(policy, first, last, second, thrust::equal_to<>());
}
template <typename First, typename Second>
pair<First, Second> mismatch(First first, First last, Second second) {
  return thrust::mismatch(detail::select<First, Second>(), first, last, second);
}
template <typename First, typename Second, typename Equal>
pair<First, Second> mismatch(First first, First last, Second second, Equal equal) {
  return thrust::mismatch(detail::select<First, Second>(), first, last, second, equal);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
