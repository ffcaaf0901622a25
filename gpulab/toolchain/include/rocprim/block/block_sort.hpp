// rocprim::block_sort: the items of a block sorted with a comparison, stably.
#pragma once
#include "../../gpulab/primitives/group_sort.h"
#include "../collective.hpp"

namespace rocprim {
// All of them are stable here.
enum class block_sort_algorithm { merge_sort, stable_merge_sort, bitonic_sort, default_algorithm = bitonic_sort };

namespace sorting {
template <typename Group, typename Key, unsigned int count, typename Value>
class group_sort {
  using Choice = ::gpulab::primitives::choose_t<__is_same(Value, empty_type), char, Value>;

 public:
  using storage_type = ::gpulab::primitives::MergeSortRoom<Group, count, Key, Choice>;
  template <typename Compare = less<Key>>
  __GPULAB_CALL__ sort(Key& key, storage_type& storage, Compare compare = Compare()) {
    sort(reinterpret_cast<Key(&)[1]>(key), storage, compare);
  }
  template <typename Compare = less<Key>>
  __GPULAB_CALL__ sort(Key& key, Value& value, storage_type& storage, Compare compare = Compare()) {
    sort(reinterpret_cast<Key(&)[1]>(key), reinterpret_cast<Value(&)[1]>(value), storage, compare);
  }
  template <typename Compare = less<Key>>
  __GPULAB_CALL__ sort(Key (&keys)[count], storage_type& storage, Compare compare = Compare()) {
    empty_type none[count];
    using Room = ::gpulab::primitives::MergeSortRoom<Group, count, Key, empty_type>;
    ::gpulab::primitives::merge_sort_group<Group>(reinterpret_cast<Room&>(storage), keys, none, Group::threads * count,
                                                  compare);
  }
  template <typename Compare = less<Key>>
  __GPULAB_CALL__ sort(Key (&keys)[count], Value (&values)[count], storage_type& storage, Compare compare = Compare()) {
    ::gpulab::primitives::merge_sort_group<Group>(storage, keys, values, Group::threads * count, compare);
  }
};
}  // namespace sorting
template <typename Key, unsigned int DimX, unsigned int ItemsPerThread = 1, typename Value = empty_type,
          block_sort_algorithm Algorithm = block_sort_algorithm::default_algorithm, unsigned int DimY = 1,
          unsigned int DimZ = 1>
class block_sort
    : public sorting::group_sort<::gpulab::primitives::Block<DimX, DimY, DimZ>, Key, ItemsPerThread, Value> {};
}  // namespace rocprim
