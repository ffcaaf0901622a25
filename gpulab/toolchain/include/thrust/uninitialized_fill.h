// thrust::uninitialized_fill, uninitialized_fill_n: elements are made by their copy constructor.
#pragma once
#include "fill.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Size, typename T>
Iterator uninitialized_fill_n(const execution_policy<Policy>& policy, Iterator first, Size n, const T& value) {
  using element = iterator_value_t<Iterator>;
  if constexpr (std::is_trivially_copyable_v<element>) {
    return thrust::fill_n(policy, first, n, static_cast<element>(value));
  } else {
    detail::for_indices(policy, static_cast<size_t>(n), [to = detail::unwrap(first), value](size_t i) mutable {
      ::new (static_cast<void*>(std::addressof(to[i]))) element(value);
    });
    return first + n;
  }
}
template <typename Policy, typename Iterator, typename T>
void uninitialized_fill(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& value) {
  thrust::uninitialized_fill_n(policy, first, detail::length(first, last), value);
}
template <typename Iterator, typename Size, typename T>
Iterator uninitialized_fill_n(Iterator first, Size n, const T& value) {
  return thrust::uninitialized_fill_n(detail::select<Iterator>(), first, n, value);
}
template <typename Iterator, typename T>
void uninitialized_fill(Iterator first, Iterator last, const T& value) {
  thrust::uninitialized_fill(detail::select<Iterator>(), first, last, value);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
