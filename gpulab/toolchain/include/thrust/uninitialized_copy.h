// thrust::uninitialized_copy, uninitialized_copy_n: elements are made by their copy constructor.
#pragma once
#include "copy.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename From, typename Size, typename To>
To uninitialized_copy_n(const execution_policy<Policy>& policy, From first, Size n, To result) {
  using element = iterator_value_t<To>;
  if constexpr (std::is_trivially_copyable_v<element>) {
    return thrust::copy_n(policy, first, n, result);
  } else if constexpr (detail::on_device<Policy>) {
    detail::for_indices(policy, static_cast<size_t>(n),
                        [from = detail::unwrap(first), to = detail::unwrap(result)](size_t i) mutable {
                          ::new (static_cast<void*>(std::addressof(to[i]))) element(from[i]);
                        });
    return result + n;
  } else {
    for (Size i = 0; i < n; ++i, ++first, ++result)
      ::new (static_cast<void*>(std::addressof(*result))) element(*first);
    return result;
  }
}
template <typename From, typename Size, typename To>
To uninitialized_copy_n(From first, Size n, To result) {
  if constexpr (std::is_same_v<detail::common_system<From, To>, detail::mixed_systems>)
    return thrust::copy_n(first, n, result);  // between systems elements travel as bytes
  else
    return thrust::uninitialized_copy_n(detail::select<From, To>(), first, n, result);
}
template <typename Policy, typename From, typename To>
To uninitialized_copy(const execution_policy<Policy>& policy, From first, From last, To result) {
  return thrust::uninitialized_copy_n(policy, first, thrust::distance(first, last), result);
}
template <typename From, typename To>
To uninitialized_copy(From first, From last, To result) {
  return thrust::uninitialized_copy_n(first, thrust::distance(first, last), result);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
