// thrust::for_each, for_each_n.
#pragma once
#include "distance.h"
#include "system/hip/detail/launch.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Size, typename Function>
Iterator for_each_n(const execution_policy<Policy>& policy, Iterator first, Size n, Function function) {
  if constexpr (detail::on_device<Policy>) {
    auto settings = detail::parallel::host_settings(policy.derived());
    detail::parallel::launched_from_the_host_only(
        settings, n, [=, from = detail::unwrap(first)](size_t i) mutable { function(from[i]); });
    detail::parallel::finish(settings);
    return first + n;
  } else {
    for (Size i = 0; i < n; ++i, ++first) function(*first);
    return first;
  }
}
template <typename Policy, typename Iterator, typename Function>
Iterator for_each(const execution_policy<Policy>& policy, Iterator first, Iterator last, Function function) {
  if constexpr (detail::on_device<Policy>) {
    return thrust::for_each_n(policy, first, detail::length(first, last), function);
  } else {
    for (; first != last; ++first) function(*first);
    return first;
  }
}
template <typename Iterator, typename Function>
Iterator for_each(Iterator first, Iterator last, Function function) {
  return thrust::for_each(detail::select<Iterator>(), first, last, function);
}
template <typename Iterator, typename Size, typename Function>
Iterator for_each_n(Iterator first, Size n, Function function) {
  return thrust::for_each_n(detail::select<Iterator>(), first, n, function);
}

namespace detail {
/// function(i) for each i below count: in a kernel, or here, one after another.
template <typename Policy, typename Function>
void for_indices(const execution_policy<Policy>& policy, size_t count, Function function) {
  if constexpr (on_device<Policy>) {
    auto settings = parallel::host_settings(policy.derived());
    parallel::launched_from_the_host_only(settings, count, function);
    parallel::finish(settings);
  } else {
    for (size_t i = 0; i < count; ++i) function(i);
  }
}
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
