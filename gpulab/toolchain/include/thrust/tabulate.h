// thrust::tabulate: a function of the index.
#pragma once
#include "for_each.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Function>
void tabulate(const execution_policy<Policy>& policy, Iterator first, Iterator last, Function function) {
  using index = iterator_difference_t<Iterator>;
  if constexpr (detail::on_device<Policy>) {
    detail::for_indices(policy, detail::length(first, last),
                        [to = detail::unwrap(first), function](size_t i) mutable {
                          to[i] = function(static_cast<index>(i));
                        });
  } else {
    for (index i = 0; first != last; ++first, ++i) *first = function(i);
  }
}
template <typename Iterator, typename Function>
void tabulate(Iterator first, Iterator last, Function function) {
  thrust::tabulate(detail::select<Iterator>(), first, last, function);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
