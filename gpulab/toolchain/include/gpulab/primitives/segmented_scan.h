// Scans of segments: a wave scans a segment.
#pragma once
#include "scan.h"

namespace gpulab {
namespace primitives {

template <typename T, typename Load, typename Begins, typename Ends, typename Op, typename Init, typename Store>
__global__ __launch_bounds__(block_threads) void scan_segments(unsigned int segments, Load load, Begins begins,
                                                               Ends ends, Op op, Init init, Store store) {
  unsigned int wave = wave_index(), step = gridDim.x * 4;
  if (wave >= 4) return;
#pragma clang loop unroll(disable)
  for (unsigned int segment = blockIdx.x * 4 + wave; segment < segments; segment += step) {
    uint64_t begin = uniform(static_cast<uint64_t>(at(begins, segment)));
    uint64_t end = uniform(static_cast<uint64_t>(at(ends, segment)));
    Room<T> carry;
    bool has = begin_carry(carry, init);
    if (begin < end) scan_range<true>(begin, static_cast<unsigned int>(end - begin), load, op, store, has, carry);
  }
}
template <typename T, typename Load, typename Store, typename Begins, typename Ends, typename Op, typename Init>
hipError_t scan_by_segment(void* temporary, size_t& bytes, Load load, Store store, unsigned int segments, Begins begins,
                           Ends ends, Op op, Init init, hipStream_t stream) {
  hipError_t result;
  if (!Storage(temporary, bytes).fits(result) || segments == 0) return result;
  unsigned int blocks = least(divide_up(segments, 4u), 4096u);
  scan_segments<T><<<blocks, block_threads, 0, stream>>>(segments, load, begins, ends, op, init, store);
  return finish();
}

}  // namespace primitives
}  // namespace gpulab
