// thrust::scatter, scatter_if: result[map[i]] = input[i].
#pragma once
#include "gather.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename From, typename Map, typename To>
void scatter(const execution_policy<Policy>& policy, From first, From last, Map map, To result) {
  if constexpr (detail::on_device<Policy>) {
    detail::for_indices(policy, detail::length(first, last),
                        [from = detail::unwrap(first), place = detail::unwrap(map),
                         to = detail::unwrap(result)](size_t i) mutable { to[place[i]] = from[i]; });
  } else {
    for (; first != last; ++first, ++map) result[*map] = *first;
  }
}
template <typename Policy, typename From, typename Map, typename Stencil, typename To, typename Predicate>
void scatter_if(const execution_policy<Policy>& policy, From first, From last, Map map, Stencil stencil, To result,
                Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    detail::for_indices(policy, detail::length(first, last),
                        [from = detail::unwrap(first), place = detail::unwrap(map), tested = detail::unwrap(stencil),
                         to = detail::unwrap(result), predicate](size_t i) mutable {
                          if (predicate(tested[i])) to[place[i]] = from[i];
                        });
  } else {
    for (; first != last; ++first, ++map, ++stencil)
      if (predicate(*stencil)) result[*map] = *first;
  }
}
template <typename Policy, typename From, typename Map, typename Stencil, typename To>
void scatter_if(const execution_policy<Policy>& policy, From first, From last, Map map, Stencil stencil, To result) {
  thrust::scatter_if(policy, first, last, map, stencil, result, detail::is_true());
}
template <typename From, typename Map, typename To>
void scatter(From first, From last, Map map, To result) {
  thrust::scatter(detail::select<From, Map, To>(), first, last, map, result);
}
template <typename From, typename Map, typename Stencil, typename To, typename Predicate>
void scatter_if(From first, From last, Map map, Stencil stencil, To result, Predicate predicate) {
  thrust::scatter_if(detail::select<From, Map, Stencil, To>(), first, last, map, stencil, result, predicate);
}
template <typename From, typename Map, typename Stencil, typename To>
void scatter_if(From first, From last, Map map, Stencil stencil, To result) {
  thrust::scatter_if(detail::select<From, Map, Stencil, To>(), first, last, map, stencil, result);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
