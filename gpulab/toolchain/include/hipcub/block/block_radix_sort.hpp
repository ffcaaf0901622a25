// hipcub::BlockRadixSort: the items of a block sorted by their bits, stably; blocked before, blocked or striped after.
#pragma once
#include "../../gpulab/primitives/group_sort.h"
#include "../collective.hpp"
#include "block_scan.hpp"

namespace hipcub {
template <typename Key, int DimX, int ITEMS_PER_THREAD, typename Value = NullType, int RADIX_BITS = 4,
          bool MEMOIZE_OUTER_SCAN = true, BlockScanAlgorithm INNER_SCAN_ALGORITHM = BLOCK_SCAN_WARP_SCANS,
          int SMEM_CONFIG = 0, int DimY = 1, int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockRadixSort
    : public collective::WithStorage<BlockRadixSort<Key, DimX, ITEMS_PER_THREAD, Value, RADIX_BITS, MEMOIZE_OUTER_SCAN,
                                                    INNER_SCAN_ALGORITHM, SMEM_CONFIG, DimY, DimZ, ARCH>,
                                     ::gpulab::primitives::RadixSortRoom<::gpulab::primitives::Block<DimX, DimY, DimZ>,
                                                                         RADIX_BITS, ITEMS_PER_THREAD, Key, Value>> {
  static constexpr unsigned int count = ITEMS_PER_THREAD;
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<BlockRadixSort,
                                       ::gpulab::primitives::RadixSortRoom<Group, RADIX_BITS, count, Key, Value>>;

 public:
  __GPULAB_COLLECTIVE__(Base)
#define __GPULAB_SORTS__(Name, descending, striped)                                                           \
  __GPULAB_COLLECTIVE_CALL__ void Name(Key(&keys)[count], int begin_bit = 0, int end_bit = sizeof(Key) * 8) { \
    NullType none[count];                                                                                     \
    sort<descending, striped>(keys, none, begin_bit, end_bit);                                                \
  }                                                                                                           \
  __GPULAB_COLLECTIVE_CALL__ void Name(Key(&keys)[count], Value(&values)[count], int begin_bit = 0,           \
                                       int end_bit = sizeof(Key) * 8) {                                       \
    sort<descending, striped>(keys, values, begin_bit, end_bit);                                              \
  }
  __GPULAB_SORTS__(Sort, false, false)
  __GPULAB_SORTS__(SortDescending, true, false)
  __GPULAB_SORTS__(SortBlockedToStriped, false, true)
  __GPULAB_SORTS__(SortDescendingBlockedToStriped, true, true)
#undef __GPULAB_SORTS__

 private:
  template <bool descending, bool striped, typename ValueT>
  __GPULAB_COLLECTIVE_CALL__ void sort(Key (&keys)[count], ValueT (&values)[count], int begin_bit, int end_bit) {
    using Room = ::gpulab::primitives::RadixSortRoom<Group, RADIX_BITS, count, Key, ValueT>;
    ::gpulab::primitives::radix_sort_block<Group, RADIX_BITS, striped>(
        reinterpret_cast<Room&>(storage_), keys, values, static_cast<unsigned int>(begin_bit),
        static_cast<unsigned int>(end_bit), ::gpulab::primitives::RadixKey<Key, descending>{});
  }
};
}  // namespace hipcub
