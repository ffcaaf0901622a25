// thrust::all_of, any_of, none_of.
#pragma once
#include "find.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Predicate>
bool any_of(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  return thrust::find_if(policy, first, last, predicate) != last;
}
template <typename Policy, typename Iterator, typename Predicate>
bool none_of(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  return thrust::find_if(policy, first, last, predicate) == last;
}
template <typename Policy, typename Iterator, typename Predicate>
bool all_of(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  return thrust::find_if_not(policy, first, last, predicate) == last;
}
template <typename Iterator, typename Predicate>
bool any_of(Iterator first, Iterator last, Predicate predicate) {
  return thrust::any_of(detail::select<Iterator>(), first, last, predicate);
}
template <typename Iterator, typename Predicate>
bool none_of(Iterator first, Iterator last, Predicate predicate) {
  return thrust::none_of(detail::select<Iterator>(), first, last, predicate);
}
template <typename Iterator, typename Predicate>
bool all_of(Iterator first, Iterator last, Predicate predicate) {
  return thrust::all_of(detail::select<Iterator>(), first, last, predicate);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
