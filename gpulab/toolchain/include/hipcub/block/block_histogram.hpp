// hipcub::BlockHistogram: counts of the items of a block. An item is the number of its bin.
#pragma once
#include "../collective.hpp"

namespace hipcub {
// Both count with atomic operations and give the same result.
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <typename T, int DimX, int ITEMS_PER_THREAD, int BINS, BlockHistogramAlgorithm ALGORITHM = BLOCK_HISTO_SORT,
          int DimY = 1, int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockHistogram {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;

 public:
  using TempStorage = collective::Empty;
  __GPULAB_DEVICE_MEMBER__ BlockHistogram() {}
  __GPULAB_DEVICE_MEMBER__ explicit BlockHistogram(TempStorage&) {}
  // The histogram is in shared or in global memory.
  template <typename Counter>
  __GPULAB_COLLECTIVE_CALL__ void InitHistogram(Counter histogram[BINS]) {
    for (unsigned int i = Group::index(); i < BINS; i += Group::threads) histogram[i] = Counter(0);
  }
  template <typename Counter>
  __GPULAB_COLLECTIVE_CALL__ void Histogram(T (&items)[ITEMS_PER_THREAD], Counter histogram[BINS]) {
    InitHistogram(histogram);
    Group::sync();
    Composite(items, histogram);
  }
  // Adds to what is there.
  template <typename Counter>
  __GPULAB_COLLECTIVE_CALL__ void Composite(T (&items)[ITEMS_PER_THREAD], Counter histogram[BINS]) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) {
      __hip_atomic_fetch_add(&histogram[static_cast<unsigned int>(items[i])], Counter(1), __ATOMIC_RELAXED,
                             __HIP_MEMORY_SCOPE_AGENT);
    }
    Group::sync();
  }
};
}  // namespace hipcub
