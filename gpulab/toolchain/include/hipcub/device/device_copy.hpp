// hipcub::DeviceCopy and DeviceMemcpy: many ranges copied by one call.
#pragma once
#include "../../gpulab/primitives/batched.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceCopy {
  // Range i: sizes[i] items from the iterator sources[i] to targets[i].
  template <typename Sources, typename Targets, typename Sizes>
  static hipError_t Batched(void* temporary, size_t& bytes, Sources sources, Targets targets, Sizes sizes,
                            uint32_t ranges, hipStream_t stream = nullptr) {
    return ::gpulab::primitives::copy_ranges<false>(temporary, bytes, sources, targets, sizes, ranges, stream);
  }
};
struct DeviceMemcpy {
  // Buffer i: sizes[i] bytes from the pointer sources[i] to targets[i].
  template <typename Sources, typename Targets, typename Sizes>
  static hipError_t Batched(void* temporary, size_t& bytes, Sources sources, Targets targets, Sizes sizes,
                            uint32_t buffers, hipStream_t stream = nullptr) {
    return ::gpulab::primitives::copy_ranges<true>(temporary, bytes, sources, targets, sizes, buffers, stream);
  }
};
}  // namespace hipcub
