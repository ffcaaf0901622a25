// thrust::distance.
#pragma once
#include "iterator/iterator_traits.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Iterator>
constexpr iterator_difference_t<Iterator> distance(Iterator first, Iterator last) {
  if constexpr (std::is_base_of_v<std::random_access_iterator_tag,
                                  typename std::iterator_traits<Iterator>::iterator_category>) {
    return last - first;
  } else {
    iterator_difference_t<Iterator> count = 0;
    for (; first != last; ++first) ++count;
    return count;
  }
}
namespace detail {
/// How many elements a range of the device has.
template <typename Iterator>
constexpr size_t length(const Iterator& first, const Iterator& last) {
  auto count = last - first;
  return count > 0 ? static_cast<size_t>(count) : 0;
}
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
