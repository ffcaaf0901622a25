// hipcub::DeviceAdjacentDifference: differences of neighbouring items.
#pragma once
#include "../../gpulab/primitives/difference.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceAdjacentDifference {
#define __GPULAB_SUBTRACT__(Name, left)                                                                             \
  template <typename Input, typename Output, typename Count, typename Op = ::gpulab::primitives::Difference>        \
  static hipError_t Name##Copy(void* temporary, size_t& bytes, Input in, Output out, Count items, Op op = {},       \
                               hipStream_t stream = nullptr, bool debug = false) {                                  \
    namespace p = ::gpulab::primitives;                                                                             \
    return p::ended(                                                                                                \
        temporary,                                                                                                  \
        p::adjacent_difference<left, false>(temporary, bytes, in, out, static_cast<uint64_t>(items), op, stream),   \
        stream, debug);                                                                                             \
  }                                                                                                                 \
  template <typename Items, typename Count, typename Op = ::gpulab::primitives::Difference>                         \
  static hipError_t Name(void* temporary, size_t& bytes, Items data, Count items, Op op = {},                       \
                         hipStream_t stream = nullptr, bool debug = false) {                                        \
    namespace p = ::gpulab::primitives;                                                                             \
    return p::ended(                                                                                                \
        temporary,                                                                                                  \
        p::adjacent_difference<left, true>(temporary, bytes, data, data, static_cast<uint64_t>(items), op, stream), \
        stream, debug);                                                                                             \
  }
  __GPULAB_SUBTRACT__(SubtractLeft, true)
  __GPULAB_SUBTRACT__(SubtractRight, false)
#undef __GPULAB_SUBTRACT__
};
}  // namespace hipcub
