// thrust::inner_product.
#pragma once
#include "reduce.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename First, typename Second, typename T, typename Sum, typename Product>
T inner_product(const execution_policy<Policy>& policy, First first, First last, Second second, T init, Sum sum,
                Product product) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    if (count == 0) return init;
    return detail::parallel::reduce<T>(
        detail::parallel::host_settings(policy.derived()), count + 1,
        [a = detail::unwrap(first), b = detail::unwrap(second), product, init](size_t i) mutable -> T {
          return i == 0 ? init : static_cast<T>(product(a[i - 1], b[i - 1]));
        },
        sum);
  } else {
    for (; first != last; ++first, ++second) init = sum(init, product(*first, *second));
    return init;
  }
}
template <typename Policy, typename First, typename Second, typename T>
T inner_product(const execution_policy<Policy>& policy, First first, First last, Second second, T init) {
  return thrust::inner_product(policy, first, last, second, init, thrust::plus<T>(), thrust::multiplies<T>());
}
template <typename First, typename Second, typename T, typename Sum, typename Product>
T inner_product(First first, First last, Second second, T init, Sum sum, Product product) {
  return thrust::inner_product(detail::select<First, Second>(), first, last, second, init, sum, product);
}
template <typename First, typename Second, typename T>
T inner_product(First first, First last, Second second, T init) {
  return thrust::inner_product(detail::select<First, Second>(), first, last, second, init);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
