// hipcub::DeviceMerge: two sorted inputs become one; of equal items those of the first input come first.
#pragma once
#include "../../gpulab/primitives/merge.h"
#include "../config.hpp"

namespace hipcub {
struct DeviceMerge {
  template <typename TypeA, typename TypeB, typename Out, typename Compare = ::gpulab::primitives::Less>
  static hipError_t MergeKeys(void* temporary, size_t& bytes, TypeA keys_in1, int64_t keys1, TypeB keys_in2,
                              int64_t keys2, Out keys_out, Compare less = Compare(), hipStream_t stream = nullptr) {
    NullType* none = nullptr;
    return ::gpulab::primitives::merge(temporary, bytes, keys_in1, keys_in2, keys_out, none, none, none,
                                       static_cast<uint64_t>(keys1), static_cast<uint64_t>(keys2), less, stream);
  }
  template <typename TypeA, typename AV, typename TypeB, typename BV, typename Out, typename OutV,
            typename Compare = ::gpulab::primitives::Less>
  static hipError_t MergePairs(void* temporary, size_t& bytes, TypeA keys_in1, AV values_in1, int64_t pairs1,
                               TypeB keys_in2, BV values_in2, int64_t pairs2, Out keys_out, OutV values_out,
                               Compare less = Compare(), hipStream_t stream = nullptr) {
    return ::gpulab::primitives::merge(temporary, bytes, keys_in1, keys_in2, keys_out, values_in1, values_in2,
                                       values_out, static_cast<uint64_t>(pairs1), static_cast<uint64_t>(pairs2), less,
                                       stream);
  }
};
}  // namespace hipcub
