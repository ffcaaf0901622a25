// rocprim::merge_path_search, lower_bound and upper_bound of one thread.
#pragma once
#include "../../hipcub/thread/thread_search.hpp"
#include "../config.hpp"

namespace gpulab::primitives {  // of the iterators, so that a call without rocprim:: finds it by their type
template <typename Offset, typename IteratorA, typename IteratorB, typename Coordinate>
__GPULAB_FUNCTION__ void merge_path_search(Offset diagonal, IteratorA a, IteratorB b, Offset a_length, Offset b_length,
                                           Coordinate& coordinate) {
  ::hipcub::MergePathSearch(diagonal, a, b, a_length, b_length, coordinate);
}
}  // namespace gpulab::primitives

namespace rocprim {
using ::gpulab::primitives::merge_path_search;
template <typename Iterator, typename Offset, typename T>
__GPULAB_FUNCTION__ Offset lower_bound(Iterator input, Offset count, T value) {
  return ::hipcub::LowerBound(input, count, value);
}
template <typename Iterator, typename Offset, typename T>
__GPULAB_FUNCTION__ Offset upper_bound(Iterator input, Offset count, T value) {
  return ::hipcub::UpperBound(input, count, value);
}
}  // namespace rocprim
