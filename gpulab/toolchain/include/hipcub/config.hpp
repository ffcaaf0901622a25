// hipCUB for gpulab: names, types and macros that all of its headers use. docs/primitives.md says what there is.
#pragma once
#include "../gpulab/primitives/operators.h"

#define HIPCUB_ROCPRIM_API 1
#define HIPCUB_NAMESPACE hipcub
#define HIPCUB_INLINE inline
#define HIPCUB_IF_CONSTEXPR constexpr
#define BEGIN_HIPCUB_NAMESPACE namespace hipcub {
#define END_HIPCUB_NAMESPACE }
#define HIPCUB_DEVICE __device__
#define HIPCUB_HOST __host__
#define HIPCUB_HOST_DEVICE __host__ __device__
#define HIPCUB_FORCEINLINE __forceinline__
#define HIPCUB_SHARED_MEMORY __shared__
#define HIPCUB_RUNTIME_FUNCTION __host__
#define HIPCUB_WARP_SIZE_32 32u
#define HIPCUB_WARP_SIZE_64 64u
#define HIPCUB_MAX_WARP_SIZE 64u
// Lanes of a wave: on the device its own, for the host's pass the most that there are.
#define HIPCUB_WARP_THREADS (::gpulab::primitives::wave_size)
#define HIPCUB_DEVICE_WARP_THREADS (::gpulab::primitives::wave_size)
#define HIPCUB_HOST_WARP_THREADS 64u
#define HIPCUB_ARCH 1
#define HIPCUB_VERSION 400200
#define HIPCUB_VERSION_MAJOR 4
#define HIPCUB_VERSION_MINOR 2
#define HIPCUB_VERSION_PATCH 0
#ifdef __GPULAB_PROGRAM__
#define HipcubDebug(error) ::hipcub::Debug((error), __FILE__, __LINE__)
#endif

namespace hipcub {
using ::gpulab::primitives::ArgMax;
using ::gpulab::primitives::ArgMin;
using ::gpulab::primitives::Difference;
using ::gpulab::primitives::Max;
using ::gpulab::primitives::Min;
using ::gpulab::primitives::Sum;
template <typename Key, typename Value>
using KeyValuePair = ::gpulab::primitives::KeyValue<Key, Value>;
using NullType = ::gpulab::primitives::NoValues;
template <typename T, typename Iterator = T*>
using FutureValue = ::gpulab::primitives::Future<T, Iterator>;

// Two buffers of which one holds the data.
template <typename T>
struct DoubleBuffer {
  T* d_buffers[2];
  int selector;
  __GPULAB_MEMBER__ DoubleBuffer() : d_buffers{nullptr, nullptr}, selector(0) {}
  __GPULAB_MEMBER__ DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate}, selector(0) {}
  __GPULAB_MEMBER__ T* Current() { return d_buffers[selector]; }
  __GPULAB_MEMBER__ T* Alternate() { return d_buffers[selector ^ 1]; }
};

#ifdef __GPULAB_PROGRAM__
// Says on standard error what a HIP call returned, if it failed.
inline hipError_t Debug(hipError_t error, const char* file, int line) {
  if (error != hipSuccess) {
    std::fprintf(stderr, "hipCUB: error %d [%s, %d]: %s\n", static_cast<int>(error), file, line,
                 hipGetErrorString(error));
  }
  return error;
}
#endif
}  // namespace hipcub
#include "thread/thread_operators.hpp"  // every header of hipCUB brings them along
