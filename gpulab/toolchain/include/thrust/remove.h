// thrust::remove, remove_if, remove_copy, remove_copy_if. The order is kept.
#pragma once
#include "copy.h"
#include "replace.h"

namespace thrust::detail {
/// Keeps the elements that keep(i) is true of, by way of temporary memory; returns how many there are.
template <typename Iterator, typename Keep>
__host__ size_t compact_in_place(const parallel::stream_policy& policy, Iterator first, size_t count, Keep keep) {
  using T = iterator_value_t<Iterator>;
  if (count == 0) return 0;
  parallel::temporary<T> kept(policy, count);
  size_t found = parallel::compact(
      policy, count, keep,
      [from = unwrap(first), to = kept.get()] __device__(size_t i, size_t place) mutable { to[place] = from[i]; },
      parallel::leave_out());
  parallel::stream_policy waiting = policy;
  waiting.waits = true;
  copy_on_device(waiting, kept.get(), found, first);
  return found;
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Stencil, typename Predicate>
Iterator remove_if(const execution_policy<Policy>& policy, Iterator first, Iterator last, Stencil stencil,
                   Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    return first + detail::compact_in_place(
                       detail::parallel::host_settings(policy.derived()), first, detail::length(first, last),
                       [tested = detail::unwrap(stencil), predicate](size_t i) mutable -> bool {
                         return !predicate(tested[i]);
                       });
  } else {
    Iterator end = first;
    for (; first != last; ++first, ++stencil) {
      if (!predicate(*stencil)) {
        if (end != first) *end = *first;
        ++end;
      }
    }
    return end;
  }
}
template <typename Policy, typename Iterator, typename Predicate>
Iterator remove_if(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  return thrust::remove_if(policy, first, last, first, predicate);
}
template <typename Policy, typename Iterator, typename T>
Iterator remove(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& value) {
  return thrust::remove_if(policy, first, last, detail::equals<T>{value});
}
template <typename Policy, typename From, typename Stencil, typename To, typename Predicate>
To remove_copy_if(const execution_policy<Policy>& policy, From first, From last, Stencil stencil, To result,
                  Predicate predicate) {
  return thrust::copy_if(policy, first, last, stencil, result, thrust::not_fn(predicate));
}
template <typename Policy, typename From, typename To, typename Predicate>
To remove_copy_if(const execution_policy<Policy>& policy, From first, From last, To result, Predicate predicate) {
  return thrust::copy_if(policy, first, last, result, thrust::not_fn(predicate));
}
template <typename Policy, typename From, typename To, typename T>
To remove_copy(const execution_policy<Policy>& policy, From first, From last, To result, const T& value) {
  return thrust::remove_copy_if(policy, first, last, result, detail::equals<T>{value});
}
template <typename Iterator, typename Predicate>
Iterator remove_if(Iterator first, Iterator last, Predicate predicate) {
  return thrust::remove_if(detail::select<Iterator>(), first, last, predicate);
}
template <typename Iterator, typename Stencil, typename Predicate>
Iterator remove_if(Iterator first, Iterator last, Stencil stencil, Predicate predicate) {
  return thrust::remove_if(detail::select<Iterator, Stencil>(), first, last, stencil, predicate);
}
template <typename Iterator, typename T>
Iterator remove(Iterator first, Iterator last, const T& value) {
  return thrust::remove(detail::select<Iterator>(), first, last, value);
}
template <typename From, typename To, typename Predicate>
To remove_copy_if(From first, From last, To result, Predicate predicate) {
  return thrust::remove_copy_if(detail::select<From, To>(), first, last, result, predicate);
}
template <typename From, typename Stencil, typename To, typename Predicate>
To remove_copy_if(From first, From last, Stencil stencil, To result, Predicate predicate) {
  return thrust::remove_copy_if(detail::select<From, Stencil, To>(), first, last, stencil, result, predicate);
}
template <typename From, typename To, typename T>
To remove_copy(From first, From last, To result, const T& value) {
  return thrust::remove_copy(detail::select<From, To>(), first, last, result, value);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
