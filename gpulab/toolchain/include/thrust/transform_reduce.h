// thrust::transform_reduce.
#pragma once
#include "iterator/transform_iterator.h"
#include "reduce.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Function, typename T, typename Operation>
T transform_reduce(const execution_policy<Policy>& policy, Iterator first, Iterator last, Function function, T init,
                   Operation operation) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    if (count == 0) return init;
    return detail::parallel::reduce<T>(
        detail::parallel::host_settings(policy.derived()), count + 1,
        [from = detail::unwrap(first), function, init](size_t i) mutable -> T {
          return i == 0 ? init : static_cast<T>(function(from[i - 1]));
        },
        operation);
  } else {
    for (; first != last; ++first) init = operation(init, function(*first));
    return init;
  }
}
template <typename Iterator, typename Function, typename T, typename Operation>
T transform_reduce(Iterator first, Iterator last, Function function, T init, Operation operation) {
  return thrust::transform_reduce(detail::select<Iterator>(), first, last, function, init, operation);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
