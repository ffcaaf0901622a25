// Histograms. Blocks count in shared memory if all bins fit there, else in the output itself.
#pragma once
#include "launching.h"

namespace gpulab {
namespace primitives {

inline constexpr unsigned int most_shared_bins = 8192;

// Bins of equal width between two levels: sample s is in bin floor((s - lower) * bins / (upper - lower)).
template <typename Level>
struct EvenBins {
  Level lower, upper;
  unsigned int bins;
  template <typename Sample>
  __GPULAB_MEMBER__ int operator()(const Sample& given) const {
    Level sample = static_cast<Level>(given);
    if (!(sample >= lower && sample < upper)) return -1;
    if constexpr (__is_integral(Level)) {
      using Wide = choose_t<(sizeof(Level) < 8), uint64_t, unsigned __int128>;
      uint64_t offset = static_cast<uint64_t>(sample) - static_cast<uint64_t>(lower);
      uint64_t range = static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower);
      return static_cast<int>(static_cast<Wide>(offset) * bins / range);
    } else {
      using Real = choose_t<__is_same(Level, double), double, float>;
      Real scale = static_cast<Real>(bins) / (static_cast<Real>(upper) - static_cast<Real>(lower));
      int bin = static_cast<int>((static_cast<Real>(sample) - static_cast<Real>(lower)) * scale);
      return least(bin, static_cast<int>(bins) - 1);
    }
  }
};
// Bins between neighbouring levels, which are sorted: the last level that is not greater begins the sample's bin.
template <typename Level>
struct RangeBins {
  const Level* levels;
  unsigned int bins;
  template <typename Sample>
  __GPULAB_MEMBER__ int operator()(const Sample& given) const {
    Level sample = static_cast<Level>(given);
    unsigned int low = 0, high = bins + 1;
    while (low < high) {
      unsigned int middle = (low + high) / 2;
      if (sample < levels[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low == 0 || low > bins ? -1 : static_cast<int>(low - 1);
  }
};

template <typename Counter, typename Bins, unsigned int active>
struct Histograms {
  Counter* counts[active];
  Bins bins[active];
  unsigned int begins[active + 1];
};

template <unsigned int channels, unsigned int active, bool shared, typename Samples, typename Counter, typename Bins>
__global__ __launch_bounds__(block_threads) void histogram_kernel(Samples samples,
                                                                  Histograms<Counter, Bins, active> all,
                                                                  uint64_t pixels, uint64_t rows,
                                                                  uint64_t row_samples) {
  extern __shared__ unsigned int bin_counts[];
  if constexpr (shared) {
    for (unsigned int i = threadIdx.x; i < all.begins[active]; i += block_threads) bin_counts[i] = 0;
    __syncthreads();
  }
  uint64_t step = static_cast<uint64_t>(gridDim.x) * block_threads;
#pragma clang loop unroll(disable)
  for (uint64_t row = blockIdx.y; row < rows; row += gridDim.y) {
#pragma clang loop unroll(disable)
    for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * block_threads + threadIdx.x; i < pixels; i += step) {
#pragma unroll
      for (unsigned int c = 0; c < active; ++c) {
        int bin = all.bins[c](at(samples, row * row_samples + i * channels + c));
        if (bin >= 0) {
          if constexpr (shared) {
            __hip_atomic_fetch_add(&bin_counts[all.begins[c] + static_cast<unsigned int>(bin)], 1u, __ATOMIC_RELAXED,
                                   __HIP_MEMORY_SCOPE_WORKGROUP);
          } else {
            __hip_atomic_fetch_add(&all.counts[c][bin], Counter(1), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
          }
        }
      }
    }
  }
  if constexpr (shared) {
    __syncthreads();
#pragma unroll
    for (unsigned int c = 0; c < active; ++c) {
      for (unsigned int i = threadIdx.x; i < all.begins[c + 1] - all.begins[c]; i += block_threads) {
        unsigned int count = bin_counts[all.begins[c] + i];
        if (count != 0) {
          __hip_atomic_fetch_add(&all.counts[c][i], static_cast<Counter>(count), __ATOMIC_RELAXED,
                                 __HIP_MEMORY_SCOPE_AGENT);
        }
      }
    }
  }
}

// Counts of `active` of `channels` interleaved channels; row_samples is the distance of two rows in samples.
template <unsigned int channels, unsigned int active, typename Samples, typename Counter, typename Bins>
hipError_t histogram(void* temporary, size_t& bytes, Samples samples, Counter* const counts[active],
                     const Bins (&bins)[active], uint64_t pixels, uint64_t rows, uint64_t row_samples,
                     hipStream_t stream) {
  hipError_t result;
  if (!Storage(temporary, bytes).fits(result)) return result;
  Histograms<Counter, Bins, active> all;
  all.begins[0] = 0;
  for (unsigned int c = 0; c < active; ++c) {
    all.counts[c] = counts[c];
    all.bins[c] = bins[c];
    all.begins[c + 1] = all.begins[c] + bins[c].bins;
    result = hipMemsetAsync(counts[c], 0, bins[c].bins * sizeof(Counter), stream);
    if (result != hipSuccess) return result;
  }
  if (pixels == 0 || rows == 0) return result;
  unsigned int total = all.begins[active];
  uint64_t wanted = divide_up(pixels, static_cast<uint64_t>(block_threads) * 16);
  dim3 grid(static_cast<unsigned int>(least(wanted, uint64_t(256))),
            static_cast<unsigned int>(least(rows, uint64_t(64))));
  if (total <= most_shared_bins) {
    histogram_kernel<channels, active, true>
        <<<grid, block_threads, total * sizeof(unsigned int), stream>>>(samples, all, pixels, rows, row_samples);
  } else {
    histogram_kernel<channels, active, false>
        <<<grid, block_threads, 0, stream>>>(samples, all, pixels, rows, row_samples);
  }
  return finish();
}

}  // namespace primitives
}  // namespace gpulab
