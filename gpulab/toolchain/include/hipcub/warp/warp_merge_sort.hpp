// hipcub::WarpMergeSort: the items of a logical warp sorted with a comparison, stably.
#pragma once
#include "../sorting.hpp"

namespace hipcub {
template <typename Key, int ITEMS_PER_THREAD, int LOGICAL_WARP_THREADS = HIPCUB_DEVICE_WARP_THREADS,
          typename Value = NullType, int ARCH = HIPCUB_ARCH>
class WarpMergeSort
    : public collective::MergeSort<WarpMergeSort<Key, ITEMS_PER_THREAD, LOGICAL_WARP_THREADS, Value, ARCH>,
                                   ::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>, Key, ITEMS_PER_THREAD, Value> {
  using Base = collective::MergeSort<WarpMergeSort, ::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>, Key,
                                     ITEMS_PER_THREAD, Value>;

 public:
  explicit __GPULAB_DEVICE_MEMBER__ WarpMergeSort(typename Base::TempStorage& storage) : Base(storage) {}
};
}  // namespace hipcub
