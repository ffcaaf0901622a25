// rocPRIM's functions for threads and lanes.
#pragma once
#include "../gpulab/primitives/group.h"
#include "config.hpp"
#include "intrinsics/atomic.hpp"
#include "intrinsics/bit.hpp"

namespace rocprim {
namespace arch {
namespace wavefront {
__GPULAB_FUNCTION__ constexpr unsigned int size() { return ::gpulab::primitives::wave_size; }
__GPULAB_BOTH__ constexpr unsigned int min_size() { return ::gpulab::primitives::wave_size; }
__GPULAB_BOTH__ constexpr unsigned int max_size() { return ::gpulab::primitives::wave_size; }
}  // namespace wavefront
}  // namespace arch
// A constant in each pass: on the host, the most that there are.
__GPULAB_BOTH__ constexpr unsigned int warp_size() { return ::gpulab::primitives::wave_size; }
__GPULAB_BOTH__ constexpr unsigned int device_warp_size() { return ::gpulab::primitives::wave_size; }
#ifdef __GPULAB_PROGRAM__
inline hipError_t host_warp_size(int device, unsigned int& size) {
  int found = 0;
  hipError_t error = hipDeviceGetAttribute(&found, hipDeviceAttributeWarpSize, device);
  size = static_cast<unsigned int>(found);
  return error;
}
#endif
__GPULAB_FUNCTION__ unsigned int lane_id() { return ::gpulab::primitives::lane_index(); }
__GPULAB_FUNCTION__ unsigned int flat_block_size() { return blockDim.x * blockDim.y * blockDim.z; }
__GPULAB_FUNCTION__ unsigned int flat_block_thread_id() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
template <unsigned int DimX, unsigned int DimY = 1, unsigned int DimZ = 1>
__GPULAB_FUNCTION__ unsigned int flat_block_thread_id() {
  return ::gpulab::primitives::Block<DimX, DimY, DimZ>::index();
}
__GPULAB_FUNCTION__ unsigned int flat_block_id() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__GPULAB_FUNCTION__ unsigned int warp_id() { return flat_block_thread_id() / warp_size(); }
template <unsigned int axis>
__GPULAB_FUNCTION__ unsigned int block_thread_id() {
  return axis == 0 ? threadIdx.x : axis == 1 ? threadIdx.y : threadIdx.z;
}
template <unsigned int axis>
__GPULAB_FUNCTION__ unsigned int block_id() {
  return axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z;
}
template <unsigned int axis>
__GPULAB_FUNCTION__ unsigned int block_size() {
  return axis == 0 ? blockDim.x : axis == 1 ? blockDim.y : blockDim.z;
}
template <unsigned int axis>
__GPULAB_FUNCTION__ unsigned int grid_size() {
  return axis == 0 ? gridDim.x : axis == 1 ? gridDim.y : gridDim.z;
}
__GPULAB_FUNCTION__ __attribute__((convergent)) void syncthreads() { __syncthreads(); }
__GPULAB_FUNCTION__ __attribute__((convergent)) void wave_barrier() { ::gpulab::primitives::wave_sync(); }
__GPULAB_FUNCTION__ __attribute__((convergent)) uint64_t ballot(int predicate) {
  return ::gpulab::primitives::ballot(predicate != 0);
}
__GPULAB_FUNCTION__ unsigned int masked_bit_count(uint64_t mask, unsigned int add = 0) {
  return ::gpulab::primitives::count_before(mask) + add;
}
__GPULAB_FUNCTION__ __attribute__((convergent)) int warp_any(int predicate) { return ballot(predicate) != 0; }
__GPULAB_FUNCTION__ __attribute__((convergent)) int warp_all(int predicate) { return ballot(!predicate) == 0; }
// The lanes whose label has the same low bits; lanes that are not valid have no others, and none has them.
__GPULAB_FUNCTION__ __attribute__((convergent)) uint64_t match_any(unsigned int label, unsigned int label_bits,
                                                                   bool valid = true) {
  uint64_t peers = ballot(valid);
  for (unsigned int i = 0; i < label_bits; ++i) {
    const bool bit = (label >> i) & 1u;
    const uint64_t with = ballot(bit);
    peers &= bit ? with : ~with;
  }
  return valid ? peers : 0;
}
template <unsigned int LabelBits>
__GPULAB_FUNCTION__ __attribute__((convergent)) uint64_t match_any(unsigned int label, bool valid = true) {
  return match_any(label, LabelBits, valid);
}
// True in the first lane of the mask.
__GPULAB_FUNCTION__ bool group_elect(uint64_t mask) { return mask >> lane_id() & 1u && masked_bit_count(mask) == 0; }
// The input of a lane of the same logical warp of `width` lanes; where there is none, the lane's own.
template <typename T>
__GPULAB_FUNCTION__ __attribute__((convergent)) T warp_shuffle(const T& input, int source_lane,
                                                               int width = warp_size()) {
  unsigned int lane = lane_id(), size = static_cast<unsigned int>(width);
  return ::gpulab::primitives::from_lane(input, lane / size * size + static_cast<unsigned int>(source_lane) % size);
}
template <typename T>
__GPULAB_FUNCTION__ __attribute__((convergent)) T warp_shuffle_up(const T& input, unsigned int delta,
                                                                  int width = warp_size()) {
  unsigned int lane = lane_id(), index = lane % static_cast<unsigned int>(width);
  return ::gpulab::primitives::from_lane(input, index < delta ? lane : lane - delta);
}
template <typename T>
__GPULAB_FUNCTION__ __attribute__((convergent)) T warp_shuffle_down(const T& input, unsigned int delta,
                                                                    int width = warp_size()) {
  unsigned int lane = lane_id(), size = static_cast<unsigned int>(width), index = lane % size;
  return ::gpulab::primitives::from_lane(input, index + delta >= size ? lane : lane + delta);
}
template <typename T>
__GPULAB_FUNCTION__ __attribute__((convergent)) T warp_shuffle_xor(const T& input, int lane_mask,
                                                                   int width = warp_size()) {
  unsigned int lane = lane_id(), other = lane ^ static_cast<unsigned int>(lane_mask),
               size = static_cast<unsigned int>(width);
  return ::gpulab::primitives::from_lane(input, other / size == lane / size ? other : lane);
}
}  // namespace rocprim
