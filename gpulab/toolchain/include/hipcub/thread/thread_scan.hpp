// hipcub::ThreadScan*: scans of a thread's own items. With `apply_prefix` the prefix stands before the first item.
#pragma once
#include "../config.hpp"

namespace hipcub {
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadScanInclusive(T* input, T* output, Op op) {
  T total = input[0];
  output[0] = total;
  for (int i = 1; i < LENGTH; ++i) output[i] = total = op(total, input[i]);
  return total;
}
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadScanInclusive(T* input, T* output, Op op, T prefix, bool apply_prefix = true) {
  T total = apply_prefix ? static_cast<T>(op(prefix, input[0])) : input[0];
  output[0] = total;
  for (int i = 1; i < LENGTH; ++i) output[i] = total = op(total, input[i]);
  return total;
}
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadScanExclusive(T* input, T* output, Op op, T prefix, bool apply_prefix = true) {
  T total = input[0];
  if (apply_prefix) {
    total = op(prefix, total);
    output[0] = prefix;
  }
  for (int i = 1; i < LENGTH; ++i) {
    T item = input[i];
    output[i] = total;
    total = op(total, item);
  }
  return total;
}
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadScanInclusive(T (&input)[LENGTH], T (&output)[LENGTH], Op op) {
  return ThreadScanInclusive<LENGTH>(static_cast<T*>(input), static_cast<T*>(output), op);
}
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadScanInclusive(T (&input)[LENGTH], T (&output)[LENGTH], Op op, T prefix,
                                          bool apply_prefix = true) {
  return ThreadScanInclusive<LENGTH>(static_cast<T*>(input), static_cast<T*>(output), op, prefix, apply_prefix);
}
template <int LENGTH, typename T, typename Op>
__GPULAB_FUNCTION__ T ThreadScanExclusive(T (&input)[LENGTH], T (&output)[LENGTH], Op op, T prefix,
                                          bool apply_prefix = true) {
  return ThreadScanExclusive<LENGTH>(static_cast<T*>(input), static_cast<T*>(output), op, prefix, apply_prefix);
}
}  // namespace hipcub
