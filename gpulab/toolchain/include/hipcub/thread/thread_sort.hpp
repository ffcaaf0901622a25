// hipcub::StableOddEvenSort: a thread sorts its own items.
#pragma once
#include "../config.hpp"

namespace hipcub {
template <typename Key, typename Value, typename Compare, int ITEMS_PER_THREAD>
__GPULAB_FUNCTION__ void StableOddEvenSort(Key (&keys)[ITEMS_PER_THREAD], Value (&values)[ITEMS_PER_THREAD],
                                           Compare less) {
#pragma unroll
  for (int round = 0; round < ITEMS_PER_THREAD; ++round) {
#pragma unroll
    for (int i = round & 1; i + 1 < ITEMS_PER_THREAD; i += 2) {
      if (less(keys[i + 1], keys[i])) {
        Key key = keys[i];
        keys[i] = keys[i + 1];
        keys[i + 1] = key;
        Value value = values[i];
        values[i] = values[i + 1];
        values[i + 1] = value;
      }
    }
  }
}
}  // namespace hipcub
