// thrust::transform, transform_if.
#pragma once
#include "for_each.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename From, typename To, typename Function>
To transform(const execution_policy<Policy>& policy, From first, From last, To result, Function function) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::for_indices(policy, count, [from = detail::unwrap(first), to = detail::unwrap(result),
                                        function](size_t i) mutable { to[i] = function(from[i]); });
    return result + count;
  } else {
    for (; first != last; ++first, ++result) *result = function(*first);
    return result;
  }
}
template <typename Policy, typename From, typename From2, typename To, typename Function>
To transform(const execution_policy<Policy>& policy, From first, From last, From2 second, To result,
             Function function) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::for_indices(policy, count,
                        [a = detail::unwrap(first), b = detail::unwrap(second), to = detail::unwrap(result),
                         function](size_t i) mutable { to[i] = function(a[i], b[i]); });
    return result + count;
  } else {
    for (; first != last; ++first, ++second, ++result) *result = function(*first, *second);
    return result;
  }
}
template <typename From, typename To, typename Function>
To transform(From first, From last, To result, Function function) {
  return thrust::transform(detail::select<From, To>(), first, last, result, function);
}
template <typename From, typename From2, typename To, typename Function>
To transform(From first, From last, From2 second, To result, Function function) {
  return thrust::transform(detail::select<From, From2, To>(), first, last, second, result, function);
}

// transform_if(first, last[, second][, stencil], result, function, predicate).
template <typename Policy, typename From, typename Stencil, typename To, typename Function, typename Predicate>
To transform_if(const execution_policy<Policy>& policy, From first, From last, Stencil stencil, To result,
                Function function, Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::for_indices(policy, count,
                        [from = detail::unwrap(first), to = detail::unwrap(result), tested = detail::unwrap(stencil),
                         function, predicate](size_t i) mutable {
                          if (predicate(tested[i])) to[i] = function(from[i]);
                        });
    return result + count;
  } else {
    for (; first != last; ++first, ++stencil, ++result)
      if (predicate(*stencil)) *result = function(*first);
    return result;
  }
}
template <typename Policy, typename From, typename To, typename Function, typename Predicate>
To transform_if(const execution_policy<Policy>& policy, From first, From last, To result, Function function,
                Predicate predicate) {
  return thrust::transform_if(policy, first, last, first, result, function, predicate);
}
template <typename Policy, typename From, typename From2, typename Stencil, typename To, typename Function,
          typename Predicate>
To transform_if(const execution_policy<Policy>& policy, From first, From last, From2 second, Stencil stencil, To result,
                Function function, Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    detail::for_indices(policy, count,
                        [a = detail::unwrap(first), b = detail::unwrap(second), to = detail::unwrap(result),
                         tested = detail::unwrap(stencil), function, predicate](size_t i) mutable {
                          if (predicate(tested[i])) to[i] = function(a[i], b[i]);
                        });
    return result + count;
  } else {
    for (; first != last; ++first, ++second, ++stencil, ++result)
      if (predicate(*stencil)) *result = function(*first, *second);
    return result;
  }
}
template <typename From, typename To, typename Function, typename Predicate>
To transform_if(From first, From last, To result, Function function, Predicate predicate) {
  return thrust::transform_if(detail::select<From, To>(), first, last, first, result, function, predicate);
}
template <typename From, typename Stencil, typename To, typename Function, typename Predicate>
To transform_if(From first, From last, Stencil stencil, To result, Function function, Predicate predicate) {
  return thrust::transform_if(detail::select<From, Stencil, To>(), first, last, stencil, result, function, predicate);
}
template <typename From, typename From2, typename Stencil, typename To, typename Function, typename Predicate>
To transform_if(From first, From last, From2 second, Stencil stencil, To result, Function function,
                Predicate predicate) {
  return thrust::transform_if(detail::select<From, From2, Stencil, To>(), first, last, second, stencil, result,
                              function, predicate);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
