// thrust::generate, generate_n. On the device each element has the generator as it was given.
#pragma once
#include "for_each.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Size, typename Generator>
Iterator generate_n(const execution_policy<Policy>& policy, Iterator first, Size n, Generator generator) {
  if constexpr (detail::on_device<Policy>) {
    detail::for_indices(policy, static_cast<size_t>(n), [to = detail::unwrap(first), generator](size_t i) mutable {
      Generator mine = generator;
      to[i] = mine();
    });
    return first + n;
  } else {
    for (Size i = 0; i < n; ++i, ++first) *first = generator();
    return first;
  }
}
template <typename Policy, typename Iterator, typename Generator>
void generate(const execution_policy<Policy>& policy, Iterator first, Iterator last, Generator generator) {
  thrust::generate_n(policy, first, thrust::distance(first, last), generator);
}
template <typename Iterator, typename Size, typename Generator>
Iterator generate_n(Iterator first, Size n, Generator generator) {
  return thrust::generate_n(detail::select<Iterator>(), first, n, generator);
}
template <typename Iterator, typename Generator>
void generate(Iterator first, Iterator last, Generator generator) {
  thrust::generate(detail::select<Iterator>(), first, last, generator);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
