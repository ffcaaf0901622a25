// How Thrust's algorithms reach the device: temporary memory, one kernel over indices (gpulab/primitives), waiting.
#pragma once
#include "../../../../gpulab/primitives/launching.h"
#include "../../../detail/error.h"
#include "../../../detail/systems.h"

namespace thrust::system::hip::detail {
/// The stream, the waiting and the temporary memory that a policy asks for.
template <typename Policy>
__host__ stream_policy host_settings(const execution_policy<Policy>&) {
  return {};
}
inline __host__ stream_policy host_settings(const execution_policy<stream_policy>& policy) { return policy.derived(); }
template <typename Policy>
__host__ stream_policy host_settings(const device_execution_policy<Policy>&) {
  return {};
}

/// Room for a value that is read from the device, whatever its constructors.
template <typename T>
union room {
  T value;
  __host__ __device__ room() {}
  __host__ __device__ ~room() {}
};

/// Device memory for the time of an algorithm.
template <typename T>
class temporary {
  stream_policy policy;
  size_t bytes;
  void* memory = nullptr;

 public:
  __host__ temporary(const stream_policy& given, size_t count) : policy(given), bytes(count * sizeof(T)) {
    if (bytes == 0) return;
    if (policy.allocate)
      memory = policy.allocate(policy.allocator, bytes);
    else
      thrust::detail::check(hipMalloc(&memory, bytes), "temporary memory of an algorithm");
  }
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  __host__ ~temporary() {
    if (memory == nullptr) return;
    if (policy.deallocate) {
      policy.deallocate(policy.allocator, memory, bytes);
    } else {
      // hipFree waits for what still uses the memory.
      (void)hipFree(memory);
    }
  }
  __host__ T* get() const { return static_cast<T*>(memory); }
  /// The element at an index, after the work on the stream.
  __host__ T read(size_t index = 0) const {
    room<T> found;
    thrust::detail::check(
        hipMemcpyAsync(&found, get() + index, sizeof(T), hipMemcpyDeviceToHost, policy.stream), "a result");
    thrust::detail::check(hipStreamSynchronize(policy.stream), "an algorithm on the device");
    return found.value;
  }
};

/// Waits for the work of an algorithm, unless the policy is par_nosync; throws what went wrong in a kernel.
inline __host__ void finish(const stream_policy& policy) {
  if (policy.waits) thrust::detail::check(hipStreamSynchronize(policy.stream), "an algorithm on the device");
}

/// function(i) for each i below count, in no order. The name says what is wrong where a kernel calls it: there, an
/// algorithm needs the policy thrust::seq.
template <typename Function>
__host__ void launched_from_the_host_only(const stream_policy& policy, size_t count, Function function) {
  thrust::detail::check(gpulab::primitives::for_each_index(count, function, policy.stream),
                        "the launch of an algorithm's kernel");
}
}  // namespace thrust::system::hip::detail

namespace thrust::detail {
namespace parallel = thrust::system::hip::detail;
}
