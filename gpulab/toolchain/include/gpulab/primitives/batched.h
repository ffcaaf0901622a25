// Many ranges copied by one launch: a block copies a range.
#pragma once
#include "launching.h"

namespace gpulab {
namespace primitives {

template <bool bytewise, typename Sources, typename Targets, typename Sizes>
__global__ __launch_bounds__(block_threads) void copy_ranges_kernel(Sources sources, Targets targets, Sizes sizes,
                                                                    unsigned int ranges) {
#pragma clang loop unroll(disable)
  for (unsigned int range = blockIdx.x; range < ranges; range += gridDim.x) {
    uint64_t size = static_cast<uint64_t>(at(sizes, range));
    if constexpr (bytewise) {
      const char* from = static_cast<const char*>(static_cast<const void*>(at(sources, range)));
      char* to = static_cast<char*>(static_cast<void*>(at(targets, range)));
#pragma clang loop unroll(disable)
      for (uint64_t i = threadIdx.x; i < size; i += block_threads) to[i] = from[i];
    } else {
      auto from = at(sources, range);
      auto to = at(targets, range);
#pragma clang loop unroll(disable)
      for (uint64_t i = threadIdx.x; i < size; i += block_threads) at(to, i) = at(from, i);
    }
  }
}
template <bool bytewise, typename Sources, typename Targets, typename Sizes>
hipError_t copy_ranges(void* temporary, size_t& bytes, Sources sources, Targets targets, Sizes sizes,
                       unsigned int ranges, hipStream_t stream) {
  hipError_t result;
  if (!Storage(temporary, bytes).fits(result) || ranges == 0) return result;
  copy_ranges_kernel<bytewise><<<least(ranges, 4096u), block_threads, 0, stream>>>(sources, targets, sizes, ranges);
  return finish();
}

}  // namespace primitives
}  // namespace gpulab
