// hipcub::BlockMergeSort: the items of a block sorted with a comparison, stably.
#pragma once
#include "../sorting.hpp"

namespace hipcub {
template <typename Key, int DimX, int ITEMS_PER_THREAD, typename Value = NullType, int DimY = 1, int DimZ = 1>
class BlockMergeSort
    : public collective::MergeSort<BlockMergeSort<Key, DimX, ITEMS_PER_THREAD, Value, DimY, DimZ>,
                                   ::gpulab::primitives::Block<DimX, DimY, DimZ>, Key, ITEMS_PER_THREAD, Value> {
  using Base = collective::MergeSort<BlockMergeSort, ::gpulab::primitives::Block<DimX, DimY, DimZ>, Key,
                                     ITEMS_PER_THREAD, Value>;

 public:
  using Base::Base;
};
}  // namespace hipcub
