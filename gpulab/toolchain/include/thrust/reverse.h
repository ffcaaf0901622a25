// thrust::reverse, reverse_copy.
#pragma once
#include "copy.h"
#include "iterator/reverse_iterator.h"
#include "swap.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator>
void reverse(const execution_policy<Policy>& policy, Iterator first, Iterator last) {
  auto count = thrust::distance(first, last);
  thrust::swap_ranges(policy, first, first + count / 2, thrust::make_reverse_iterator(last));
}
template <typename Policy, typename From, typename To>
To reverse_copy(const execution_policy<Policy>& policy, From first, From last, To result) {
  return thrust::copy(policy, thrust::make_reverse_iterator(last), thrust::make_reverse_iterator(first), result);
}
template <typename Iterator>
void reverse(Iterator first, Iterator last) {
  thrust::reverse(detail::select<Iterator>(), first, last);
}
template <typename From, typename To>
To reverse_copy(From first, From last, To result) {
  return thrust::reverse_copy(detail::select<From, To>(), first, last, result);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
