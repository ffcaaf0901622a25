// thrust::fill, fill_n.
#pragma once
#include "for_each.h"

namespace thrust::detail {
/// Sets numbers of 1, 2 or 4 bytes without a kernel.
template <typename T>
__host__ void set_memory(const parallel::stream_policy& policy, T* memory, size_t count, T value) {
  void* to = const_cast<std::remove_cv_t<T>*>(memory);
  hipError_t error;
  if (count == 0) return;
  if constexpr (sizeof(T) == 1)
    error = hipMemsetD8Async(to, __builtin_bit_cast(unsigned char, value), count, policy.stream);
  else if constexpr (sizeof(T) == 2)
    error = hipMemsetD16Async(to, __builtin_bit_cast(unsigned short, value), count, policy.stream);
  else
    error = hipMemsetD32Async(to, __builtin_bit_cast(int, value), count, policy.stream);
  check(error, "thrust::fill");
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Size, typename T>
Iterator fill_n(const execution_policy<Policy>& policy, Iterator first, Size n, const T& value) {
  if constexpr (detail::on_device<Policy>) {
    using element = iterator_value_t<Iterator>;
    auto settings = detail::parallel::host_settings(policy.derived());
    size_t count = n > 0 ? static_cast<size_t>(n) : 0;
    if constexpr (std::is_pointer_v<detail::unwrapped_t<Iterator>> && std::is_arithmetic_v<element> &&
                  sizeof(element) <= 4) {
      detail::set_memory(settings, detail::unwrap(first), count, static_cast<element>(value));
    } else {
      detail::parallel::launched_from_the_host_only(
          settings, count, [to = detail::unwrap(first), value](size_t i) mutable { to[i] = value; });
    }
    detail::parallel::finish(settings);
    return first + count;
  } else {
    for (Size i = 0; i < n; ++i, ++first) *first = value;
    return first;
  }
}
template <typename Policy, typename Iterator, typename T>
void fill(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& value) {
  if constexpr (detail::on_device<Policy>) {
    thrust::fill_n(policy, first, detail::length(first, last), value);
  } else {
    for (; first != last; ++first) *first = value;
  }
}
template <typename Iterator, typename Size, typename T>
Iterator fill_n(Iterator first, Size n, const T& value) {
  return thrust::fill_n(detail::select<Iterator>(), first, n, value);
}
template <typename Iterator, typename T>
void fill(Iterator first, Iterator last, const T& value) {
  thrust::fill(detail::select<Iterator>(), first, last, value);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
