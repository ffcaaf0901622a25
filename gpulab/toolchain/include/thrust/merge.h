// thrust::merge, merge_by_key: two sorted ranges into one; of equal elements those of the first come first.
#pragma once
#include "copy.h"
#include "functional.h"
#include "system/hip/detail/sort.h"

namespace thrust::detail {
template <typename A, typename B, typename To, typename AValues, typename BValues, typename ToValues, typename Less>
__host__ void merge_on_device(const parallel::stream_policy& policy, A a, size_t a_count, B b, size_t b_count, To to,
                              AValues a_values, BValues b_values, ToValues to_values, Less less) {
  parallel::with_storage(policy, [&](void* memory, size_t& bytes) {
    return parallel::core::merge(memory, bytes, a, b, to, a_values, b_values, to_values, a_count, b_count, less,
                                 policy.stream);
  });
  parallel::finish(policy);
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename A, typename B, typename To, typename Less>
To merge(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, To result, Less less) {
  if constexpr (detail::on_device<Policy>) {
    size_t a_count = detail::length(a, a_end), b_count = detail::length(b, b_end);
    detail::parallel::core::NoValues* none = nullptr;
    detail::merge_on_device(detail::parallel::host_settings(policy.derived()), detail::unwrap(a), a_count,
                            detail::unwrap(b), b_count, detail::unwrap(result), none, none, none, less);
    return result + (a_count + b_count);
  } else {
    while (a != a_end && b != b_end) {
      if (less(*b, *a)) {
        *result = *b;
        ++b;
      } else {
        *result = *a;
        ++a;
      }
      ++result;
    }
    for (; a != a_end; ++a, ++result) *result = *a;
    for (; b != b_end; ++b, ++result) *result = *b;
    return result;
  }
}
template <typename Policy, typename A, typename B, typename AValues, typename BValues, typename To, typename ToValues,
          typename Less>
pair<To, ToValues> merge_by_key(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, AValues a_values,
                                BValues b_values, To result, ToValues result_values, Less less) {
  if constexpr (detail::on_device<Policy>) {
    size_t a_count = detail::length(a, a_end), b_count = detail::length(b, b_end);
    detail::merge_on_device(detail::parallel::host_settings(policy.derived()), detail::unwrap(a), a_count,
                            detail::unwrap(b), b_count, detail::unwrap(result), detail::unwrap(a_values),
                            detail::unwrap(b_values), detail::unwrap(result_values), less);
    return {result + (a_count + b_count), result_values + (a_count + b_count)};
  } else {
    while (a != a_end || b != b_end) {
      if (a == a_end || (b != b_end && less(*b, *a))) {
        *result = *b;
        *result_values = *b_values;
        ++b;
        ++b_values;
      } else {
        *result = *a;
        *result_values = *a_values;
        ++a;
        ++a_values;
      }
      ++result;
      ++result_values;
    }
    return {result, result_values};
  }
}
template <typename Policy, typename A, typename B, typename To>
To merge(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, To result) {
  return thrust::merge(policy, a, a_end, b, b_end, result, thrust::less<>());
}
template <typename Policy, typename A, typename B, typename AValues, typename BValues, typename To, typename ToValues>
pair<To, ToValues> merge_by_key(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, AValues a_values,
                                BValues b_values, To result, ToValues result_values) {
  return thrust::merge_by_key(policy, a, a_end, b, b_end, a_values, b_values, result, result_values, thrust::less<>());
}
template <typename A, typename B, typename To>
To merge(A a, A a_end, B b, B b_end, To result) {
  return thrust::merge(detail::select<A, B, To>(), a, a_end, b, b_end, result);
}
template <typename A, typename B, typename To, typename Less>
To merge(A a, A a_end, B b, B b_end, To result, Less less) {
  return thrust::merge(detail::select<A, B, To>(), a, a_end, b, b_end, result, less);
}
template <typename A, typename B, typename AValues, typename BValues, typename To, typename ToValues>
pair<To, ToValues> merge_by_key(A a, A a_end, B b, B b_end, AValues a_values, BValues b_values, To result,
                                ToValues result_values) {
  return thrust::merge_by_key(detail::select<A, B, AValues, BValues, To, ToValues>(), a, a_end, b, b_end, a_values,
                              b_values, result, result_values);
}
template <typename A, typename B, typename AValues, typename BValues, typename To, typename ToValues, typename Less>
pair<To, ToValues> merge_by_key(A a, A a_end, B b, B b_end, AValues a_values, BValues b_values, To result,
                                ToValues result_values, Less less) {
  return thrust::merge_by_key(detail::select<A, B, AValues, BValues, To, ToValues>(), a, a_end, b, b_end, a_values,
                              b_values, result, result_values, less);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
