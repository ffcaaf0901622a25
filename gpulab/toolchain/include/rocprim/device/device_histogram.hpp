// rocPRIM's histograms: counts of samples between levels.
#pragma once
#include "../../gpulab/primitives/histogram.h"
#include "../iterators.hpp"

namespace rocprim {

template <unsigned int Channels, unsigned int ActiveChannels, typename Config = default_config, typename Samples,
          typename Counter, typename Level>
hipError_t multi_histogram_even(void* temporary, size_t& bytes, Samples samples, unsigned int columns,
                                unsigned int rows, size_t row_stride_bytes, Counter* histogram[ActiveChannels],
                                unsigned int levels[ActiveChannels], Level lower_level[ActiveChannels],
                                Level upper_level[ActiveChannels], hipStream_t stream = nullptr, bool debug = false) {
  gpulab_::EvenBins<Level> bins[ActiveChannels];
  for (unsigned int c = 0; c < ActiveChannels; ++c) {
    if (levels[c] < 2 || !(lower_level[c] < upper_level[c])) return hipErrorInvalidValue;
    bins[c] = {lower_level[c], upper_level[c], levels[c] - 1};
  }
  size_t sample = sizeof(gpulab_::element_of<Samples>);
  if (row_stride_bytes % sample != 0) return hipErrorInvalidValue;
  return gpulab_::ended(temporary,
                        gpulab_::histogram<Channels, ActiveChannels>(temporary, bytes, samples, histogram, bins,
                                                                     columns, rows, row_stride_bytes / sample, stream),
                        stream, debug);
}
template <unsigned int Channels, unsigned int ActiveChannels, typename Config = default_config, typename Samples,
          typename Counter, typename Level>
hipError_t multi_histogram_even(void* temporary, size_t& bytes, Samples samples, unsigned int size,
                                Counter* histogram[ActiveChannels], unsigned int levels[ActiveChannels],
                                Level lower_level[ActiveChannels], Level upper_level[ActiveChannels],
                                hipStream_t stream = nullptr, bool debug = false) {
  return multi_histogram_even<Channels, ActiveChannels, Config>(
      temporary, bytes, samples, size, 1u, size_t(0), histogram, levels, lower_level, upper_level, stream, debug);
}
template <typename Config = default_config, typename Samples, typename Counter, typename Level>
hipError_t histogram_even(void* temporary, size_t& bytes, Samples samples, unsigned int columns, unsigned int rows,
                          size_t row_stride_bytes, Counter* histogram, unsigned int levels, Level lower_level,
                          Level upper_level, hipStream_t stream = nullptr, bool debug = false) {
  Counter* all[1] = {histogram};
  unsigned int all_levels[1] = {levels};
  Level lower[1] = {lower_level}, upper[1] = {upper_level};
  return multi_histogram_even<1, 1, Config>(temporary, bytes, samples, columns, rows, row_stride_bytes, all, all_levels,
                                            lower, upper, stream, debug);
}
template <typename Config = default_config, typename Samples, typename Counter, typename Level>
hipError_t histogram_even(void* temporary, size_t& bytes, Samples samples, unsigned int size, Counter* histogram,
                          unsigned int levels, Level lower_level, Level upper_level, hipStream_t stream = nullptr,
                          bool debug = false) {
  return histogram_even<Config>(temporary, bytes, samples, size, 1u, size_t(0), histogram, levels, lower_level,
                                upper_level, stream, debug);
}
template <unsigned int Channels, unsigned int ActiveChannels, typename Config = default_config, typename Samples,
          typename Counter, typename Level>
hipError_t multi_histogram_range(void* temporary, size_t& bytes, Samples samples, unsigned int columns,
                                 unsigned int rows, size_t row_stride_bytes, Counter* histogram[ActiveChannels],
                                 unsigned int levels[ActiveChannels], Level* level_values[ActiveChannels],
                                 hipStream_t stream = nullptr, bool debug = false) {
  gpulab_::RangeBins<__remove_cv(Level)> bins[ActiveChannels];
  for (unsigned int c = 0; c < ActiveChannels; ++c) {
    if (levels[c] < 2) return hipErrorInvalidValue;
    bins[c] = {level_values[c], levels[c] - 1};
  }
  size_t sample = sizeof(gpulab_::element_of<Samples>);
  if (row_stride_bytes % sample != 0) return hipErrorInvalidValue;
  return gpulab_::ended(temporary,
                        gpulab_::histogram<Channels, ActiveChannels>(temporary, bytes, samples, histogram, bins,
                                                                     columns, rows, row_stride_bytes / sample, stream),
                        stream, debug);
}
template <unsigned int Channels, unsigned int ActiveChannels, typename Config = default_config, typename Samples,
          typename Counter, typename Level>
hipError_t multi_histogram_range(void* temporary, size_t& bytes, Samples samples, unsigned int size,
                                 Counter* histogram[ActiveChannels], unsigned int levels[ActiveChannels],
                                 Level* level_values[ActiveChannels], hipStream_t stream = nullptr,
                                 bool debug = false) {
  return multi_histogram_range<Channels, ActiveChannels, Config>(temporary, bytes, samples, size, 1u, size_t(0),
                                                                 histogram, levels, level_values, stream, debug);
}
template <typename Config = default_config, typename Samples, typename Counter, typename Level>
hipError_t histogram_range(void* temporary, size_t& bytes, Samples samples, unsigned int columns, unsigned int rows,
                           size_t row_stride_bytes, Counter* histogram, unsigned int levels, Level* level_values,
                           hipStream_t stream = nullptr, bool debug = false) {
  Counter* all[1] = {histogram};
  unsigned int all_levels[1] = {levels};
  Level* all_values[1] = {level_values};
  return multi_histogram_range<1, 1, Config>(temporary, bytes, samples, columns, rows, row_stride_bytes, all,
                                             all_levels, all_values, stream, debug);
}
template <typename Config = default_config, typename Samples, typename Counter, typename Level>
hipError_t histogram_range(void* temporary, size_t& bytes, Samples samples, unsigned int size, Counter* histogram,
                           unsigned int levels, Level* level_values, hipStream_t stream = nullptr, bool debug = false) {
  return histogram_range<Config>(temporary, bytes, samples, size, 1u, size_t(0), histogram, levels, level_values,
                                 stream, debug);
}
}  // namespace rocprim
