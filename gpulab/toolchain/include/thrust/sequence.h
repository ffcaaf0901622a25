// thrust::sequence: from, from + step, from + 2 * step ...
#pragma once
#include "tabulate.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename T>
void sequence(const execution_policy<Policy>& policy, Iterator first, Iterator last, T from, T step) {
  thrust::tabulate(policy, first, last,
                   [from, step](ptrdiff_t i) { return static_cast<T>(from + step * static_cast<T>(i)); });
}
template <typename Policy, typename Iterator, typename T>
void sequence(const execution_policy<Policy>& policy, Iterator first, Iterator last, T from) {
  thrust::sequence(policy, first, last, from, T(1));
}
template <typename Policy, typename Iterator>
void sequence(const execution_policy<Policy>& policy, Iterator first, Iterator last) {
  using T = iterator_value_t<Iterator>;
  thrust::sequence(policy, first, last, T(0), T(1));
}
template <typename Iterator>
void sequence(Iterator first, Iterator last) {
  thrust::sequence(detail::select<Iterator>(), first, last);
}
template <typename Iterator, typename T>
void sequence(Iterator first, Iterator last, T from) {
  thrust::sequence(detail::select<Iterator>(), first, last, from, T(1));
}
template <typename Iterator, typename T>
void sequence(Iterator first, Iterator last, T from, T step) {
  thrust::sequence(detail::select<Iterator>(), first, last, from, step);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
