// hipCUB's functions of one thread over its own items: reductions, scans, searches, sorts.
#pragma once
#include "../config.hpp"

namespace hipcub {
template <int LENGTH, typename T, typename Op, typename Prefix>
__GPULAB_FUNCTION__ T ThreadReduce(T* input, Op op, Prefix prefix) {
  T total = prefix;
  for (int i = 0; i < LENGTH; ++i) total = op(total, input[i]);
  return total;
}
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadReduce(T* input, Op op) {
  T total = input[0];
  for (int i = 1; i < LENGTH; ++i) total = op(total, input[i]);
  return total;
}
template <int LENGTH, typename T, typename Op, typename Prefix>
__GPULAB_FUNCTION__ T ThreadReduce(T (&input)[LENGTH], Op op, Prefix prefix) {
  return ThreadReduce<LENGTH>(static_cast<T*>(input), op, prefix);
}
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadReduce(T (&input)[LENGTH], Op op) {
  return ThreadReduce<LENGTH>(static_cast<T*>(input), op);
}
}  // namespace hipcub
