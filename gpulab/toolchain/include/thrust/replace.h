// thrust::replace, replace_if, replace_copy, replace_copy_if.
#pragma once
#include "transform.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <typename T>
struct equals {
  T value;
  template <typename U>
  bool operator()(const U& other) const {
    return other == value;
  }
};
template <typename T>
struct gives {
  T value;
  template <typename U>
  T operator()(const U&) const {
    return value;
  }
};
}  // namespace detail
template <typename Policy, typename Iterator, typename Stencil, typename Predicate, typename T>
void replace_if(const execution_policy<Policy>& policy, Iterator first, Iterator last, Stencil stencil,
                Predicate predicate, const T& value) {
  thrust::transform_if(policy, first, last, stencil, first, detail::gives<T>{value}, predicate);
}
template <typename Policy, typename Iterator, typename Predicate, typename T>
void replace_if(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate,
                const T& value) {
  thrust::replace_if(policy, first, last, first, predicate, value);
}
template <typename Policy, typename Iterator, typename T>
void replace(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& old, const T& value) {
  thrust::replace_if(policy, first, last, detail::equals<T>{old}, value);
}
template <typename Policy, typename From, typename Stencil, typename To, typename Predicate, typename T>
To replace_copy_if(const execution_policy<Policy>& policy, From first, From last, Stencil stencil, To result,
                   Predicate predicate, const T& value) {
  using output = iterator_value_t<From>;
  return thrust::transform(policy, first, last, stencil, result,
                           [predicate, value](const auto& one, const auto& tested) mutable {
                             return predicate(tested) ? static_cast<output>(value) : static_cast<output>(one);
                           });
}
template <typename Policy, typename From, typename To, typename Predicate, typename T>
To replace_copy_if(const execution_policy<Policy>& policy, From first, From last, To result, Predicate predicate,
                   const T& value) {
  return thrust::replace_copy_if(policy, first, last, first, result, predicate, value);
}
template <typename Policy, typename From, typename To, typename T>
To replace_copy(const execution_policy<Policy>& policy, From first, From last, To result, const T& old,
                const T& value) {
  return thrust::replace_copy_if(policy, first, last, result, detail::equals<T>{old}, value);
}
template <typename Iterator, typename Predicate, typename T>
void replace_if(Iterator first, Iterator last, Predicate predicate, const T& value) {
  thrust::replace_if(detail::select<Iterator>(), first, last, predicate, value);
}
template <typename Iterator, typename Stencil, typename Predicate, typename T>
void replace_if(Iterator first, Iterator last, Stencil stencil, Predicate predicate, const T& value) {
  thrust::replace_if(detail::select<Iterator, Stencil>(), first, last, stencil, predicate, value);
}
template <typename Iterator, typename T>
void replace(Iterator first, Iterator last, const T& old, const T& value) {
  thrust::replace(detail::select<Iterator>(), first, last, old, value);
}
template <typename From, typename To, typename Predicate, typename T>
To replace_copy_if(From first, From last, To result, Predicate predicate, const T& value) {
  return thrust::replace_copy_if(detail::select<From, To>(), first, last, result, predicate, value);
}
template <typename From, typename Stencil, typename To, typename Predicate, typename T>
To replace_copy_if(From first, From last, Stencil stencil, To result, Predicate predicate, const T& value) {
  return thrust::replace_copy_if(detail::select<From, Stencil, To>(), first, last, stencil, result, predicate, value);
}
template <typename From, typename To, typename T>
To replace_copy(From first, From last, To result, const T& old, const T& value) {
  return thrust::replace_copy(detail::select<From, To>(), first, last, result, old, value);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
