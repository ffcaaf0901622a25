// rocPRIM's run lengths.
#pragma once
#include "../../gpulab/primitives/runs.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Input, typename Unique, typename Counts, typename Runs>
hipError_t run_length_encode(void* temporary, size_t& bytes, Input input, size_t size, Unique unique_output,
                             Counts counts_output, Runs runs_count_output, hipStream_t stream = nullptr,
                             bool debug = false) {
  using Length = gpulab_::element_or<Counts, unsigned int>;
  return gpulab_::ended(temporary,
                        gpulab_::reduce_by_key<Length>(
                            temporary, bytes, input, unique_output, gpulab_::ConstantIterator<Length>(Length(1)),
                            counts_output, runs_count_output, gpulab_::Sum{}, gpulab_::Equal{}, size, stream),
                        stream, debug);
}
// Runs of two and more: where each begins, and its length.
template <typename Config = default_config, typename Input, typename Offsets, typename Counts, typename Runs>
hipError_t run_length_encode_non_trivial_runs(void* temporary, size_t& bytes, Input input, size_t size,
                                              Offsets offsets_output, Counts counts_output, Runs runs_count_output,
                                              hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::long_runs(temporary, bytes, input, offsets_output, counts_output, runs_count_output,
                                           gpulab_::Equal{}, size, stream),
                        stream, debug);
}
}  // namespace rocprim
