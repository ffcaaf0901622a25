// The calls of hipCUB's merge sorts, the same for logical warps and blocks.
#pragma once
#include "../gpulab/primitives/group_sort.h"
#include "collective.hpp"

namespace hipcub {
namespace collective {
template <typename Self, typename Group, typename Key, unsigned int count, typename Value>
class MergeSort : public WithStorage<Self, ::gpulab::primitives::MergeSortRoom<Group, count, Key, Value>> {
  using Base = WithStorage<Self, ::gpulab::primitives::MergeSortRoom<Group, count, Key, Value>>;

 public:
  __GPULAB_COLLECTIVE__(Base)
  __GPULAB_DEVICE_MEMBER__ unsigned int get_linear_tid() const { return Group::index(); }
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void Sort(Key (&keys)[count], Compare less) {
    NullType none[count];
    sort(keys, none, Group::threads * count, less);
  }
  // Of the items the first `valid` take part; the others are this key afterwards.
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void Sort(Key (&keys)[count], Compare less, int valid, Key otherwise) {
    NullType none[count];
    fill(keys, valid, otherwise);
    sort(keys, none, static_cast<unsigned int>(valid), less);
  }
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void Sort(Key (&keys)[count], Value (&values)[count], Compare less) {
    sort(keys, values, Group::threads * count, less);
  }
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void Sort(Key (&keys)[count], Value (&values)[count], Compare less, int valid,
                                       Key otherwise) {
    fill(keys, valid, otherwise);
    sort(keys, values, static_cast<unsigned int>(valid), less);
  }
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void StableSort(Key (&keys)[count], Compare less) {
    Sort(keys, less);
  }
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void StableSort(Key (&keys)[count], Compare less, int valid, Key otherwise) {
    Sort(keys, less, valid, otherwise);
  }
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void StableSort(Key (&keys)[count], Value (&values)[count], Compare less) {
    Sort(keys, values, less);
  }
  template <typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void StableSort(Key (&keys)[count], Value (&values)[count], Compare less, int valid,
                                             Key otherwise) {
    Sort(keys, values, less, valid, otherwise);
  }

 private:
  __GPULAB_DEVICE_MEMBER__ void fill(Key (&keys)[count], int valid, const Key& otherwise) {
    for (unsigned int i = 0; i < count; ++i) {
      if (Group::index() * count + i >= static_cast<unsigned int>(valid)) keys[i] = otherwise;
    }
  }
  template <typename ValueT, typename Compare>
  __GPULAB_COLLECTIVE_CALL__ void sort(Key (&keys)[count], ValueT (&values)[count], unsigned int valid, Compare& less) {
    using Room = ::gpulab::primitives::MergeSortRoom<Group, count, Key, ValueT>;
    ::gpulab::primitives::merge_sort_group<Group>(reinterpret_cast<Room&>(storage_), keys, values, valid, less);
  }
};
}  // namespace collective
}  // namespace hipcub
