// Keywords of the language, the integer types, and the attributes that every function of these headers carries.
#pragma once

#undef __HIP_PLATFORM_AMD__  // a command line may have given it another value
#define __HIP_PLATFORM_AMD__ 1
#ifndef __GPULAB_PLAIN__  // a C++ source that calls HIP's runtime, compiled for the host alone
#define __HIPCC__ 1
#endif
#include "../hip/hip_version.h"

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

// __launch_bounds__(threads[, waves per SIMD]). Clang's own attribute launch_bounds says nothing to the AMDGPU target.
#define __GPULAB_BOUNDS_1__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __GPULAB_BOUNDS_2__(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define __GPULAB_BOUNDS__(first, second, chosen, ...) chosen
#define __launch_bounds__(...) \
  __GPULAB_BOUNDS__(__VA_ARGS__, __GPULAB_BOUNDS_2__, __GPULAB_BOUNDS_1__, )(__VA_ARGS__)

// Dynamic shared memory: its size comes with the launch, so the array has none.
#define HIP_DYNAMIC_SHARED(type, variable) extern __shared__ type variable[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(x) x

// The functions of these headers: inlined at the call, and without lines of their own.
#define __GPULAB_FUNCTION__ static __device__ inline __attribute__((always_inline, nodebug))
#define __GPULAB_BOTH__ static __host__ __device__ inline __attribute__((always_inline, nodebug))
#define __GPULAB_MEMBER__ __host__ __device__ inline __attribute__((always_inline, nodebug))

#include <stddef.h>
#include <stdint.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long long longlong;
typedef unsigned long long ulonglong;
