// thrust::transform_inclusive_scan, transform_exclusive_scan.
#pragma once
#include "scan.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename From, typename To, typename Function, typename Operation>
To transform_inclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result,
                            Function function, Operation operation) {
  using T = detail::result_of<Function&, From>;
  return detail::scan_inclusive<T>(policy, first, last, result, function, operation);
}
template <typename Policy, typename From, typename To, typename Function, typename T, typename Operation>
To transform_inclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result,
                            Function function, T init, Operation operation) {
  return detail::scan_exclusive(policy, first, last, result, function, init, operation, true);
}
template <typename Policy, typename From, typename To, typename Function, typename T, typename Operation>
To transform_exclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result,
                            Function function, T init, Operation operation) {
  return detail::scan_exclusive(policy, first, last, result, function, init, operation);
}
template <typename From, typename To, typename Function, typename Operation>
To transform_inclusive_scan(From first, From last, To result, Function function, Operation operation) {
  return thrust::transform_inclusive_scan(detail::select<From, To>(), first, last, result, function, operation);
}
template <typename From, typename To, typename Function, typename T, typename Operation>
To transform_inclusive_scan(From first, From last, To result, Function function, T init, Operation operation) {
  return thrust::transform_inclusive_scan(detail::select<From, To>(), first, last, result, function, init, operation);
}
template <typename From, typename To, typename Function, typename T, typename Operation>
To transform_exclusive_scan(From first, From last, To result, Function function, T init, Operation operation) {
  return thrust::transform_exclusive_scan(detail::select<From, To>(), first, last, result, function, init, operation);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
