// hipcub::DeviceHistogram: counts of samples between levels, of one channel or of interleaved ones.
#pragma once
#include "../../gpulab/primitives/histogram.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceHistogram {
  template <typename Samples, typename Counter, typename Level, typename Count,
            typename = typename ::gpulab::enable_if<__is_arithmetic(Level) || __is_class(Level)>::type>
  static hipError_t HistogramEven(void* temporary, size_t& bytes, Samples samples, Counter* counts, int levels,
                                  Level lower, Level upper, Count items, hipStream_t stream = nullptr,
                                  bool debug = false) {
    return HistogramEven(temporary, bytes, samples, counts, levels, lower, upper, items, Count(1), size_t(0), stream,
                         debug);
  }
  template <typename Samples, typename Counter, typename Level, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t HistogramEven(void* temporary, size_t& bytes, Samples samples, Counter* counts, int levels,
                                  Level lower, Level upper, Count row_items, Count rows, size_t row_bytes,
                                  hipStream_t stream = nullptr, bool debug = false) {
    Counter* all[1] = {counts};
    int all_levels[1] = {levels};
    Level all_lower[1] = {lower}, all_upper[1] = {upper};
    return MultiHistogramEven<1, 1>(temporary, bytes, samples, all, all_levels, all_lower, all_upper, row_items, rows,
                                    row_bytes, stream, debug);
  }
  template <int channels, int active, typename Samples, typename Counter, typename Level, typename Count>
  static hipError_t MultiHistogramEven(void* temporary, size_t& bytes, Samples samples, Counter* counts[active],
                                       const int levels[active], const Level lower[active], const Level upper[active],
                                       Count pixels, hipStream_t stream = nullptr, bool debug = false) {
    return MultiHistogramEven<channels, active>(temporary, bytes, samples, counts, levels, lower, upper, pixels,
                                                Count(1), size_t(0), stream, debug);
  }
  template <int channels, int active, typename Samples, typename Counter, typename Level, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t MultiHistogramEven(void* temporary, size_t& bytes, Samples samples, Counter* counts[active],
                                       const int levels[active], const Level lower[active], const Level upper[active],
                                       Count row_pixels, Count rows, size_t row_bytes, hipStream_t stream = nullptr,
                                       bool debug = false) {
    ::gpulab::primitives::EvenBins<Level> bins[active];
    for (int c = 0; c < active; ++c) {
      if (levels[c] < 2 || !(lower[c] < upper[c])) return hipErrorInvalidValue;
      bins[c] = {lower[c], upper[c], static_cast<unsigned int>(levels[c] - 1)};
    }
    return run<channels, active>(temporary, bytes, samples, counts, bins, row_pixels, rows, row_bytes, stream, debug);
  }

  template <typename Samples, typename Counter, typename Level, typename Count>
  static hipError_t HistogramRange(void* temporary, size_t& bytes, Samples samples, Counter* counts, int levels_count,
                                   const Level* levels, Count items, hipStream_t stream = nullptr, bool debug = false) {
    return HistogramRange(temporary, bytes, samples, counts, levels_count, levels, items, Count(1), size_t(0), stream,
                          debug);
  }
  template <typename Samples, typename Counter, typename Level, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t HistogramRange(void* temporary, size_t& bytes, Samples samples, Counter* counts, int levels_count,
                                   const Level* levels, Count row_items, Count rows, size_t row_bytes,
                                   hipStream_t stream = nullptr, bool debug = false) {
    Counter* all[1] = {counts};
    int all_counts[1] = {levels_count};
    const Level* all_levels[1] = {levels};
    return MultiHistogramRange<1, 1>(temporary, bytes, samples, all, all_counts, all_levels, row_items, rows, row_bytes,
                                     stream, debug);
  }
  template <int channels, int active, typename Samples, typename Counter, typename Level, typename Count>
  static hipError_t MultiHistogramRange(void* temporary, size_t& bytes, Samples samples, Counter* counts[active],
                                        const int levels_count[active], Level* const levels[active], Count pixels,
                                        hipStream_t stream = nullptr, bool debug = false) {
    return MultiHistogramRange<channels, active>(temporary, bytes, samples, counts, levels_count, levels, pixels,
                                                 Count(1), size_t(0), stream, debug);
  }
  template <int channels, int active, typename Samples, typename Counter, typename Level, typename Count,
            typename = typename ::gpulab::enable_if<__is_integral(Count)>::type>
  static hipError_t MultiHistogramRange(void* temporary, size_t& bytes, Samples samples, Counter* counts[active],
                                        const int levels_count[active], Level* const levels[active], Count row_pixels,
                                        Count rows, size_t row_bytes, hipStream_t stream = nullptr,
                                        bool debug = false) {
    ::gpulab::primitives::RangeBins<__remove_cv(Level)> bins[active];
    for (int c = 0; c < active; ++c) {
      if (levels_count[c] < 2) return hipErrorInvalidValue;
      bins[c] = {levels[c], static_cast<unsigned int>(levels_count[c] - 1)};
    }
    return run<channels, active>(temporary, bytes, samples, counts, bins, row_pixels, rows, row_bytes, stream, debug);
  }

 private:
  template <int channels, int active, typename Samples, typename Counter, typename Bins, typename Count>
  static hipError_t run(void* temporary, size_t& bytes, Samples samples, Counter* counts[active],
                        const Bins (&bins)[active], Count row_pixels, Count rows, size_t row_bytes, hipStream_t stream,
                        bool debug) {
    namespace p = ::gpulab::primitives;
    size_t sample = sizeof(p::element_of<Samples>);
    if (row_bytes % sample != 0) return hipErrorInvalidValue;
    return p::ended(
        temporary,
        p::histogram<channels, active>(temporary, bytes, samples, counts, bins, static_cast<uint64_t>(row_pixels),
                                       static_cast<uint64_t>(rows), row_bytes / sample, stream),
        stream, debug);
  }
};
}  // namespace hipcub
