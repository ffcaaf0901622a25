// What every header of Thrust begins with.
//
// Functions between "force_cuda_host_device begin" and "end" serve the host and the device. What only the host can do
// (launching, allocating) stands outside, with __host__; a call of it from a kernel is an error that names it.
#pragma once
#ifndef __GPULAB_PROGRAM__
#error "Thrust needs host code: build this source as a whole program, with %%hipcc or gpulab hipcc (docs/programs.md)."
#endif
#if __cplusplus < 201703L
#error "Thrust needs C++17 or later: leave out -std=c++11 or c++14, or write -std=c++17."
#endif
#include <hip/hip_runtime.h>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "../version.h"

#define THRUST_DEVICE_SYSTEM_CPP 4
#define THRUST_DEVICE_SYSTEM_HIP 5
#define THRUST_HOST_SYSTEM_CPP 1
#if defined(THRUST_DEVICE_SYSTEM) && THRUST_DEVICE_SYSTEM != THRUST_DEVICE_SYSTEM_HIP
#error "the device system of gpulab's Thrust is HIP: leave THRUST_DEVICE_SYSTEM undefined, or use thrust::host."
#endif
#undef THRUST_DEVICE_SYSTEM
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_HIP
#ifndef THRUST_HOST_SYSTEM
#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP
#endif
#ifndef THRUST_NODISCARD
#define THRUST_NODISCARD [[nodiscard]]
#endif
#define THRUST_HOST __host__
#define THRUST_DEVICE __device__
#define THRUST_HOST_DEVICE __host__ __device__
#define THRUST_UNUSED_VAR(expression) \
  do {                                \
    (void)(expression);               \
  } while (0)
#define THRUST_FWD(one) ::std::forward<decltype(one)>(one)
#define THRUST_NS_QUALIFIER ::thrust
#define THRUST_NAMESPACE_BEGIN namespace thrust {
#define THRUST_NAMESPACE_END }

namespace thrust {
using std::size_t;
using std::ptrdiff_t;
}  // namespace thrust
