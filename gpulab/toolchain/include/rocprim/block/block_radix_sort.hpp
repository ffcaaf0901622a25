// rocprim::block_radix_sort: the items of a block sorted by their bits, stably.
#pragma once
#include "../../gpulab/primitives/group_sort.h"
#include "../collective.hpp"

namespace rocprim {
template <typename Key, unsigned int DimX, unsigned int ItemsPerThread, typename Value = empty_type,
          unsigned int DimY = 1, unsigned int DimZ = 1, unsigned int RadixBitsPerPass = 4>
class block_radix_sort {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  template <typename ValueT>
  using Room = ::gpulab::primitives::RadixSortRoom<Group, RadixBitsPerPass, ItemsPerThread, Key, ValueT>;
  static constexpr unsigned int count = ItemsPerThread;
  template <bool descending, bool striped, typename ValueT>
  __GPULAB_CALL__ run(Key (&keys)[count], ValueT (&values)[count], Room<Value>& storage, unsigned int begin,
                      unsigned int end) {
    ::gpulab::primitives::radix_sort_block<Group, RadixBitsPerPass, striped>(
        reinterpret_cast<Room<ValueT>&>(storage), keys, values, begin, end,
        ::gpulab::primitives::RadixKey<Key, descending>{});
  }

 public:
  using storage_type = Room<Value>;
#define __GPULAB_SORTS__(name, descending, striped)                                                                 \
  __GPULAB_CALL__ name(Key(&keys)[count], storage_type& storage, unsigned int begin_bit = 0,                        \
                       unsigned int end_bit = 8 * sizeof(Key)) {                                                    \
    empty_type none[count];                                                                                         \
    run<descending, striped>(keys, none, storage, begin_bit, end_bit);                                              \
  }                                                                                                                 \
  __GPULAB_CALL__ name(Key(&keys)[count], unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(Key)) {     \
    name(keys, own_storage(), begin_bit, end_bit);                                                                  \
  }                                                                                                                 \
  __GPULAB_CALL__ name(Key(&keys)[count], Value(&values)[count], storage_type& storage, unsigned int begin_bit = 0, \
                       unsigned int end_bit = 8 * sizeof(Key)) {                                                    \
    run<descending, striped>(keys, values, storage, begin_bit, end_bit);                                            \
  }                                                                                                                 \
  __GPULAB_CALL__ name(Key(&keys)[count], Value(&values)[count], unsigned int begin_bit = 0,                        \
                       unsigned int end_bit = 8 * sizeof(Key)) {                                                    \
    name(keys, values, own_storage(), begin_bit, end_bit);                                                          \
  }
  __GPULAB_SORTS__(sort, false, false)
  __GPULAB_SORTS__(sort_desc, true, false)
  __GPULAB_SORTS__(sort_to_striped, false, true)
  __GPULAB_SORTS__(sort_desc_to_striped, true, true)
#undef __GPULAB_SORTS__

 private:
  __GPULAB_OWN_STORAGE__
};
}  // namespace rocprim
