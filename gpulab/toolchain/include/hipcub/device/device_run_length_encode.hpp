// hipcub::DeviceRunLengthEncode: runs of equal neighbours and their lengths.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../../gpulab/primitives/runs.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceRunLengthEncode {
  template <typename Input, typename Unique, typename Lengths, typename Runs, typename Count>
  static hipError_t Encode(void* temporary, size_t& bytes, Input in, Unique unique, Lengths lengths, Runs runs,
                           Count items, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    using Length = p::element_or<Lengths, Count>;
    return p::ended(temporary,
                    p::reduce_by_key<Length>(temporary, bytes, in, unique, p::ConstantIterator<Length>(Length(1)),
                                             lengths, runs, p::Sum{}, p::Equal{}, static_cast<uint64_t>(items), stream),
                    stream, debug);
  }
  // Runs of two and more: where each begins, and its length.
  template <typename Input, typename Offsets, typename Lengths, typename Runs, typename Count>
  static hipError_t NonTrivialRuns(void* temporary, size_t& bytes, Input in, Offsets offsets, Lengths lengths,
                                   Runs runs, Count items, hipStream_t stream = nullptr, bool debug = false) {
    namespace p = ::gpulab::primitives;
    return p::ended(
        temporary,
        p::long_runs(temporary, bytes, in, offsets, lengths, runs, p::Equal{}, static_cast<uint64_t>(items), stream),
        stream, debug);
  }
};
}  // namespace hipcub
