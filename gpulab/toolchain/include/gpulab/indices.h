// Where a thread is: dim3, threadIdx, blockIdx, blockDim, gridDim, warpSize.
//
// The coordinates are read where the hardware keeps them: the thread's in a VGPR, the block's in SGPRs, and the
// sizes in the hidden part of the kernel's arguments.
#pragma once
#include "dim3.h"

namespace gpulab {
// Block counts are the first three words of the hidden arguments (code object version 5).
template <int axis>
__GPULAB_FUNCTION__ uint32_t block_count() {
  return ((const uint32_t __attribute__((address_space(4)))*)__builtin_amdgcn_implicitarg_ptr())[axis];
}
}  // namespace gpulab

#define __GPULAB_COORDINATES__(type, read_x, read_y, read_z)                                              \
  struct type {                                                                                           \
    __declspec(property(get = __x)) uint32_t x;                                                           \
    __declspec(property(get = __y)) uint32_t y;                                                           \
    __declspec(property(get = __z)) uint32_t z;                                                           \
    static __device__ inline __attribute__((always_inline, nodebug)) uint32_t __x() { return read_x; }    \
    static __device__ inline __attribute__((always_inline, nodebug)) uint32_t __y() { return read_y; }    \
    static __device__ inline __attribute__((always_inline, nodebug)) uint32_t __z() { return read_z; }    \
    __device__ inline __attribute__((always_inline, nodebug)) operator dim3() const {                     \
      return dim3(read_x, read_y, read_z);                                                                \
    }                                                                                                     \
    __device__ inline __attribute__((always_inline, nodebug)) operator uint3() const {                    \
      return uint3(read_x, read_y, read_z);                                                               \
    }                                                                                                     \
    type() = default;                                                                                     \
    type(const type&) = delete;                                                                           \
    void operator=(const type&) const = delete;                                                           \
  };

__GPULAB_COORDINATES__(__hip_builtin_threadIdx_t, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                       __builtin_amdgcn_workitem_id_z())
__GPULAB_COORDINATES__(__hip_builtin_blockIdx_t, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                       __builtin_amdgcn_workgroup_id_z())
__GPULAB_COORDINATES__(__hip_builtin_blockDim_t, __builtin_amdgcn_workgroup_size_x(),
                       __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
__GPULAB_COORDINATES__(__hip_builtin_gridDim_t, gpulab::block_count<0>(), gpulab::block_count<1>(),
                       gpulab::block_count<2>())
#undef __GPULAB_COORDINATES__

// Defined, though empty and never read: -O0 takes their addresses.
static const __device__ __attribute__((unused)) __hip_builtin_threadIdx_t threadIdx = {};
static const __device__ __attribute__((unused)) __hip_builtin_blockIdx_t blockIdx = {};
static const __device__ __attribute__((unused)) __hip_builtin_blockDim_t blockDim = {};
static const __device__ __attribute__((unused)) __hip_builtin_gridDim_t gridDim = {};

#define hipThreadIdx_x (__builtin_amdgcn_workitem_id_x())
#define hipThreadIdx_y (__builtin_amdgcn_workitem_id_y())
#define hipThreadIdx_z (__builtin_amdgcn_workitem_id_z())
#define hipBlockIdx_x (__builtin_amdgcn_workgroup_id_x())
#define hipBlockIdx_y (__builtin_amdgcn_workgroup_id_y())
#define hipBlockIdx_z (__builtin_amdgcn_workgroup_id_z())
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

// Lanes in a wavefront: 64 on CDNA, 32 on RDNA. As in HIP 7 it is no constant expression (it cannot size an array
// or be a template argument), but the compiler folds it.
struct __hip_warp_size_t {
  __device__ inline __attribute__((always_inline, nodebug)) operator int() const {
    return __builtin_amdgcn_wavefrontsize();
  }
};
static const __device__ __attribute__((unused)) __hip_warp_size_t warpSize = {}; // defined: -O0 takes its address
