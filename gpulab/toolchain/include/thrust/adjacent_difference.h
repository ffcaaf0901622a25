// thrust::adjacent_difference. Input and output may be the same.
#pragma once
#include "copy.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <typename Policy, typename From, typename To, typename Operation>
void differences(const execution_policy<Policy>& policy, From from, size_t count, To to, Operation operation) {
  for_indices(policy, count, [from, to, operation](size_t i) mutable {
    if (i == 0)
      to[i] = from[i];
    else
      to[i] = operation(from[i], from[i - 1]);
  });
}
template <typename From, typename To>
bool may_share(const From& from, const To& to) {
  if constexpr (std::is_pointer_v<From> && std::is_pointer_v<To>)
    return static_cast<const volatile void*>(from) == static_cast<const volatile void*>(to);
  else
    return true;
}
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end

namespace thrust::detail {
template <typename From, typename To, typename Operation>
__host__ void differences_on_device(const parallel::stream_policy& policy, From from, size_t count, To to,
                                    Operation operation) {
  using T = iterator_value_t<From>;
  if (!may_share(from, to)) return differences(policy, from, count, to, operation);
  parallel::temporary<T> kept(policy, count);
  parallel::stream_policy waiting = policy;
  waiting.waits = true;
  copy_on_device(policy, from, count, kept.get());
  differences(waiting, static_cast<const T*>(kept.get()), count, to, operation);
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename From, typename To, typename Operation>
To adjacent_difference(const execution_policy<Policy>& policy, From first, From last, To result, Operation operation) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::differences_on_device(detail::parallel::host_settings(policy.derived()), detail::unwrap(first), count,
                                  detail::unwrap(result), operation);
    return result + count;
  } else {
    if (first == last) return result;
    iterator_value_t<From> before = *first;
    *result = before;
    for (++first, ++result; first != last; ++first, ++result) {
      iterator_value_t<From> value = *first;
      *result = operation(value, before);
      before = value;
    }
    return result;
  }
}
template <typename Policy, typename From, typename To>
To adjacent_difference(const execution_policy<Policy>& policy, From first, From last, To result) {
  return thrust::adjacent_difference(policy, first, last, result, thrust::minus<>());
}
template <typename From, typename To>
To adjacent_difference(From first, From last, To result) {
  return thrust::adjacent_difference(detail::select<From, To>(), first, last, result);
}
template <typename From, typename To, typename Operation>
To adjacent_difference(From first, From last, To result, Operation operation) {
  return thrust::adjacent_difference(detail::select<From, To>(), first, last, result, operation);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
