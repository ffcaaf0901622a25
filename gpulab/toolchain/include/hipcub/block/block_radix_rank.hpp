// hipcub::BlockRadixRank: the rank of each key of a block in the order of one digit; equal digits stay in order.
#pragma once
#include "../../gpulab/primitives/group_sort.h"
#include "../collective.hpp"
#include "block_scan.hpp"
#include "radix_rank_sort_operations.hpp"

namespace hipcub {
template <int DimX, int RADIX_BITS, bool IS_DESCENDING, bool MEMOIZE_OUTER_SCAN = false,
          BlockScanAlgorithm INNER_SCAN_ALGORITHM = BLOCK_SCAN_WARP_SCANS, int SMEM_CONFIG = 0, int DimY = 1,
          int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockRadixRank {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  static constexpr unsigned int digits = 1u << RADIX_BITS;

 public:
  static constexpr int BINS_TRACKED_PER_THREAD =
      static_cast<int>(::gpulab::primitives::divide_up(digits, static_cast<unsigned int>(DimX * DimY * DimZ)));
  using TempStorage = ::gpulab::primitives::DigitCounts<Group, RADIX_BITS>;
  __GPULAB_DEVICE_MEMBER__ BlockRadixRank() : storage_(own()) {}
  explicit __GPULAB_DEVICE_MEMBER__ BlockRadixRank(TempStorage& storage) : storage_(storage) {}

  template <typename Bits, int count, typename Extractor>
  __GPULAB_COLLECTIVE_CALL__ void RankKeys(Bits (&keys)[count], int (&ranks)[count], Extractor extractor) {
    unsigned int found[count];
    // rank_digits takes items striped within waves; the digits of blocked keys are brought there and the ranks back.
    using Blocked = ::gpulab::primitives::Blocked<Group, count>;
    using WaveStriped = ::gpulab::primitives::WaveStriped<Group, count>;
    static __shared__::gpulab::primitives::Items<unsigned int, Group::threads * count> moved;
    unsigned int digit[count];
    for (int i = 0; i < count; ++i) {
      digit[i] = extractor.Digit(keys[i]);
      if (IS_DESCENDING) digit[i] = digits - 1 - digit[i];
    }
    ::gpulab::primitives::exchange<Group>(moved, digit, digit, Blocked{}, WaveStriped{});
    ::gpulab::primitives::rank_digits<Group, RADIX_BITS>(
        storage_, found, [&](unsigned int i) __attribute__((always_inline, nodebug)) { return digit[i]; });
    ::gpulab::primitives::exchange<Group>(moved, found, found, WaveStriped{}, Blocked{});
    for (int i = 0; i < count; ++i) ranks[i] = static_cast<int>(found[i]);
    Group::sync();
  }
  // Also how many keys have smaller digits than each digit of this thread.
  template <typename Bits, int count, typename Extractor>
  __GPULAB_COLLECTIVE_CALL__ void RankKeys(Bits (&keys)[count], int (&ranks)[count], Extractor extractor,
                                           int (&exclusive_digit_prefix)[BINS_TRACKED_PER_THREAD]) {
    RankKeys(keys, ranks, extractor);
    for (int i = 0; i < BINS_TRACKED_PER_THREAD; ++i) {
      unsigned int digit = Group::index() * BINS_TRACKED_PER_THREAD + static_cast<unsigned int>(i);
      if (IS_DESCENDING) digit = digits - 1 - digit;
      if (digit < digits) exclusive_digit_prefix[i] = static_cast<int>(storage_.counts[digit * Group::waves]);
    }
  }

 private:
  static __GPULAB_DEVICE_MEMBER__ TempStorage& own() {
    static __shared__ TempStorage storage;
    return storage;
  }
  TempStorage& storage_;
};
// The same; hipCUB's other class ranks by matching lanes, as this one does too.
template <int DimX, int RADIX_BITS, bool IS_DESCENDING, BlockScanAlgorithm INNER_SCAN_ALGORITHM = BLOCK_SCAN_WARP_SCANS,
          int DimY = 1, int DimZ = 1, int ARCH = HIPCUB_ARCH>
using BlockRadixRankMatch =
    BlockRadixRank<DimX, RADIX_BITS, IS_DESCENDING, false, INNER_SCAN_ALGORITHM, 0, DimY, DimZ, ARCH>;
}  // namespace hipcub
