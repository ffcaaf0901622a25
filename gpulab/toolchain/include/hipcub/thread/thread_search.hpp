// hipCUB's searches of one thread in sorted items.
#pragma once
#include "../config.hpp"

namespace hipcub {
// The first place whose item is not less than the value.
template <typename Iterator, typename Offset, typename T>
__GPULAB_FUNCTION__ Offset LowerBound(Iterator input, Offset count, T value) {
  Offset low = 0;
  while (low < count) {
    Offset middle = low + (count - low) / 2;
    if (input[middle] < value) {
      low = middle + 1;
    } else {
      count = middle;
    }
  }
  return low;
}
// The first place whose item is greater than the value.
template <typename Iterator, typename Offset, typename T>
__GPULAB_FUNCTION__ Offset UpperBound(Iterator input, Offset count, T value) {
  Offset low = 0;
  while (low < count) {
    Offset middle = low + (count - low) / 2;
    if (value < input[middle]) {
      count = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
// Where the diagonal crosses the merge path of two sorted lists: coordinate.x items of a, coordinate.y of b.
template <typename TypeA, typename TypeB, typename Offset, typename Coordinate>
__GPULAB_FUNCTION__ void MergePathSearch(Offset diagonal, TypeA a, TypeB b, Offset a_length, Offset b_length,
                                         Coordinate& coordinate) {
  Offset low = diagonal > b_length ? diagonal - b_length : 0, high = diagonal < a_length ? diagonal : a_length;
  while (low < high) {
    Offset middle = low + (high - low) / 2;
    if (a[middle] <= b[diagonal - middle - 1]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  coordinate.x = low;
  coordinate.y = diagonal - low;
}
}  // namespace hipcub
