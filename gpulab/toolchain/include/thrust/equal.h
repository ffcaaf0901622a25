// thrust::equal.
#pragma once
#include "mismatch.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename First, typename Second, typename Equal>
bool equal(const execution_policy<Policy>& policy, First first, First last, Second second, Equal same) {
  return thrust::mismatch(policy, first, last, second, same).first == last;
}
template <typename Policy, typename First, typename Second>
bool equal(const execution_policy<Policy>& policy, First first, First last, Second second) {
  return thrust::equal(policy, first, last, second, thrust::equal_to<>());
}
template <typename First, typename Second>
bool equal(First first, First last, Second second) {
  return thrust::equal(detail::select<First, Second>(), first, last, second);
}
template <typename First, typename Second, typename Equal>
bool equal(First first, First last, Second second, Equal same) {
  return thrust::equal(detail::select<First, Second>(), first, last, second, same);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
