// rocprim::block_histogram: counts of the items of a block. An item is the number of its bin.
#pragma once
#include "../../hipcub/block/block_histogram.hpp"
#include "../collective.hpp"

namespace rocprim {
// Both count with atomic operations and give the same result.
enum class block_histogram_algorithm { using_atomic, using_sort, default_algorithm = using_atomic };
template <typename T, unsigned int DimX, unsigned int ItemsPerThread, unsigned int Bins,
          block_histogram_algorithm Algorithm = block_histogram_algorithm::default_algorithm, unsigned int DimY = 1,
          unsigned int DimZ = 1>
class block_histogram {
  using Histogram =
      ::hipcub::BlockHistogram<T, static_cast<int>(DimX), static_cast<int>(ItemsPerThread), static_cast<int>(Bins),
                               ::hipcub::BLOCK_HISTO_ATOMIC, static_cast<int>(DimY), static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Histogram::TempStorage;
  template <typename Counter>
  __GPULAB_CALL__ init_histogram(Counter hist[Bins]) {
    Histogram().InitHistogram(hist);
  }
  template <typename Counter>
  __GPULAB_CALL__ histogram(T (&input)[ItemsPerThread], Counter hist[Bins], storage_type&) {
    Histogram().Histogram(input, hist);
  }
  template <typename Counter>
  __GPULAB_CALL__ histogram(T (&input)[ItemsPerThread], Counter hist[Bins]) {
    Histogram().Histogram(input, hist);
  }
  template <typename Counter>
  __GPULAB_CALL__ composite(T (&input)[ItemsPerThread], Counter hist[Bins], storage_type&) {
    Histogram().Composite(input, hist);
  }
  template <typename Counter>
  __GPULAB_CALL__ composite(T (&input)[ItemsPerThread], Counter hist[Bins]) {
    Histogram().Composite(input, hist);
  }
};
}  // namespace rocprim
