// thrust::gather, gather_if: result[i] = input[map[i]].
#pragma once
#include "transform.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Map, typename From, typename To>
To gather(const execution_policy<Policy>& policy, Map first, Map last, From input, To result) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::for_indices(policy, count, [map = detail::unwrap(first), from = detail::unwrap(input),
                                        to = detail::unwrap(result)](size_t i) mutable { to[i] = from[map[i]]; });
    return result + count;
  } else {
    for (; first != last; ++first, ++result) *result = input[*first];
    return result;
  }
}
template <typename Policy, typename Map, typename Stencil, typename From, typename To, typename Predicate>
To gather_if(const execution_policy<Policy>& policy, Map first, Map last, Stencil stencil, From input, To result,
             Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::for_indices(policy, count,
                        [map = detail::unwrap(first), tested = detail::unwrap(stencil), from = detail::unwrap(input),
                         to = detail::unwrap(result), predicate](size_t i) mutable {
                          if (predicate(tested[i])) to[i] = from[map[i]];
                        });
    return result + count;
  } else {
    for (; first != last; ++first, ++stencil, ++result)
      if (predicate(*stencil)) *result = input[*first];
    return result;
  }
}
namespace detail {
struct is_true {
  template <typename T>
  bool operator()(const T& value) const {
    return static_cast<bool>(value);
  }
};
}  // namespace detail
template <typename Policy, typename Map, typename Stencil, typename From, typename To>
To gather_if(const execution_policy<Policy>& policy, Map first, Map last, Stencil stencil, From input, To result) {
  return thrust::gather_if(policy, first, last, stencil, input, result, detail::is_true());
}
template <typename Map, typename From, typename To>
To gather(Map first, Map last, From input, To result) {
  return thrust::gather(detail::select<Map, From, To>(), first, last, input, result);
}
template <typename Map, typename Stencil, typename From, typename To, typename Predicate>
To gather_if(Map first, Map last, Stencil stencil, From input, To result, Predicate predicate) {
  return thrust::gather_if(detail::select<Map, Stencil, From, To>(), first, last, stencil, input, result, predicate);
}
template <typename Map, typename Stencil, typename From, typename To>
To gather_if(Map first, Map last, Stencil stencil, From input, To result) {
  return thrust::gather_if(detail::select<Map, Stencil, From, To>(), first, last, stencil, input, result);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
