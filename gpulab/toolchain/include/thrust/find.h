// thrust::find, find_if, find_if_not.
#pragma once
#include "replace.h"
#include "system/hip/detail/primitives.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
/// The first index below count of which a function is true, or count.
template <typename Policy, typename Function>
size_t first_index(const execution_policy<Policy>& policy, size_t count, Function function) {
  if (count == 0) return 0;
  return parallel::reduce<size_t>(
      parallel::host_settings(policy.derived()), count,
      [function, count](size_t i) mutable -> size_t { return function(i) ? i : count; }, thrust::minimum<size_t>());
}
}  // namespace detail
template <typename Policy, typename Iterator, typename Predicate>
Iterator find_if(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    return first + detail::first_index(policy, detail::length(first, last),
                                       [from = detail::unwrap(first), predicate](size_t i) mutable -> bool {
                                         return predicate(from[i]);
                                       });
  } else {
    while (first != last && !predicate(*first)) ++first;
    return first;
  }
}
template <typename Policy, typename Iterator, typename Predicate>
Iterator find_if_not(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  return thrust::find_if(policy, first, last, thrust::not_fn(predicate));
}
template <typename Policy, typename Iterator, typename T>
Iterator find(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& value) {
  return thrust::find_if(policy, first, last, detail::equals<T>{value});
}
template <typename Iterator, typename Predicate>
Iterator find_if(Iterator first, Iterator last, Predicate predicate) {
  return thrust::find_if(detail::select<Iterator>(), first, last, predicate);
}
template <typename Iterator, typename Predicate>
Iterator find_if_not(Iterator first, Iterator last, Predicate predicate) {
  return thrust::find_if_not(detail::select<Iterator>(), first, last, predicate);
}
template <typename Iterator, typename T>
Iterator find(Iterator first, Iterator last, const T& value) {
  return thrust::find(detail::select<Iterator>(), first, last, value);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
