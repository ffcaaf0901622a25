// hipcub::BlockMergeSort: the items of a block sorted with a comparison, stably.
#pragma once
#include "../sorting.hpp"

namespace hipcub {
template <typename Key, int X, int ITEMS_PER_THREAD, typename Value = NullType, int Y = 1, int Z = 1>
class BlockMergeSort
    : public collective::MergeSort<BlockMergeSort<Key, X, ITEMS_PER_THREAD, Value, Y, Z>,
                                   ::gpulab::primitives::Block<X, Y, Z>, Key, ITEMS_PER_THREAD, Value> {
  using Base =
      collective::MergeSort<BlockMergeSort, ::gpulab::primitives::Block<X, Y, Z>, Key, ITEMS_PER_THREAD, Value>;

 public:
  using Base::Base;
};
}  // namespace hipcub
