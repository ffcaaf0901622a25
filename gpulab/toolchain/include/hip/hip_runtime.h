// hip/hip_runtime.h - what a HIP kernel may use, written for gpulab's device compiler.
//
// The names and rules are those of HIP 7 and later; the bodies are gpulab's own. Reading order:
//   gpulab/definitions.h     keywords (__global__, __shared__, ...) and plain integer types
//   hip/hip_vector_types.h   float4 and its relatives
//   gpulab/indices.h         dim3, threadIdx, blockIdx, blockDim, gridDim, warpSize
//   gpulab/synchronisation.h barriers, fences, clocks, trap
//   gpulab/atomics.h         atomicAdd and its relatives
//   gpulab/integers.h        __popc, __clz, __mulhi, ...
//   gpulab/packed_integers.h amd_mixed_dot, __hip_hc_add8pk, ...
//   gpulab/conversions.h     __float2int_rn, __float_as_int, ...
//   gpulab/crosslane.h       __shfl, __ballot, __reduce_add_sync, ...
//   gpulab/mathematics.h     sinf, exp, min, max, ... and their std:: names
//   gpulab/textures.h        tex2D, surf2Dwrite, ...
//   gpulab/printing.h        printf
//   gpulab/memory.h          memcpy, memset
//   gpulab/heap.h            malloc, free, new, delete
//   gpulab/assertion.h       what assert does; assert.h is the macro
//   gpulab/standard.h        std::min, std::numeric_limits, std::sin, ...
//
// A whole program (__GPULAB_PROGRAM__) is read twice, for the host and for the device, with the C++ library's own headers
// and gpulab/host/ instead of standard.h: the host's calls, and the device's functions beside the host's of one name.
//
// On demand, as in HIP: hip/hip_fp16.h, hip/hip_bf16.h, hip/hip_fp8.h, hip/hip_fp6.h, hip/hip_fp4.h, hip/hip_complex.h
// and hip/hip_cooperative_groups.h. HIP_API.md lists what HIP documents and these lack; beside it are the matrix types of
// rocWMMA.
//
// Functions here carry nodebug: the debugger's line, a fault and a profile then show the line of the
// kernel that called them, never a line of this folder.
#ifndef __GPULAB_HIP_RUNTIME__
#define __GPULAB_HIP_RUNTIME__
#if !defined(__HIP__) && !defined(__GPULAB_PLAIN__)
#error "hip/hip_runtime.h is read by the device compiler: compile this source with gpulab.compile(source) or %%hip."
#endif

#include "../gpulab/names.h"
#ifdef __GPULAB_PROGRAM__
#include "../gpulab/host/standard.h"
#endif
#include "../gpulab/features.h"
#include "hip_runtime_api.h"
#include "hip_vector_types.h"
#include "../gpulab/indices.h"
#include "../gpulab/synchronisation.h"
#include "../gpulab/atomics.h"
#include "../gpulab/integers.h"
#include "../gpulab/packed_integers.h"
#include "../gpulab/conversions.h"
#include "../gpulab/crosslane.h"
#include "../gpulab/mathematics.h"
#include "../gpulab/rocm_names.h"
#include "../gpulab/textures.h"
#include "../gpulab/printing.h"
#include "../gpulab/memory.h"
#include "../gpulab/heap.h"
#ifdef __GPULAB_PROGRAM__
#include "../gpulab/assertion.h"
#include "../gpulab/host/device_names.h"
#include <complex>
#else
#include "../gpulab/standard.h"
#endif
#include "../gpulab/names_end.h"
#endif
#ifndef __GPULAB_PROGRAM__
#include "../assert.h"  // each time: NDEBUG may have been defined since
#endif
