// thrust::count, count_if.
#pragma once
#include "replace.h"
#include "transform_reduce.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Predicate>
iterator_difference_t<Iterator> count_if(const execution_policy<Policy>& policy, Iterator first, Iterator last,
                                         Predicate predicate) {
  using number = iterator_difference_t<Iterator>;
  return thrust::transform_reduce(
      policy, first, last, [predicate](const auto& one) mutable { return static_cast<number>(predicate(one) ? 1 : 0); },
      number(0), thrust::plus<number>());
}
template <typename Policy, typename Iterator, typename T>
iterator_difference_t<Iterator> count(const execution_policy<Policy>& policy, Iterator first, Iterator last,
                                      const T& value) {
  return thrust::count_if(policy, first, last, detail::equals<T>{value});
}
template <typename Iterator, typename Predicate>
iterator_difference_t<Iterator> count_if(Iterator first, Iterator last, Predicate predicate) {
  return thrust::count_if(detail::select<Iterator>(), first, last, predicate);
}
template <typename Iterator, typename T>
iterator_difference_t<Iterator> count(Iterator first, Iterator last, const T& value) {
  return thrust::count(detail::select<Iterator>(), first, last, value);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
