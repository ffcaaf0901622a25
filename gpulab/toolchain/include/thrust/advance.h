// thrust::advance, next, prev.
#pragma once
#include "distance.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Iterator, typename Distance>
constexpr void advance(Iterator& it, Distance n) {
  std::advance(it, n);
}
template <typename Iterator>
constexpr Iterator next(Iterator it, iterator_difference_t<Iterator> n = 1) {
  std::advance(it, n);
  return it;
}
template <typename Iterator>
constexpr Iterator prev(Iterator it, iterator_difference_t<Iterator> n = 1) {
  std::advance(it, -n);
  return it;
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
