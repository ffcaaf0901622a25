// hipCUB's host functions about the device. CUB's names with "Ptx" give what HIP knows instead: the architecture's
// number.
#pragma once
#include "config.hpp"

namespace hipcub {
// One storage for several arrays, each at a multiple of 256 bytes: with a null pointer, how many bytes they need.
template <int ALLOCATIONS>
__GPULAB_BOTH__ hipError_t AliasTemporaries(void* temporary, size_t& bytes, void* (&allocations)[ALLOCATIONS],
                                            const size_t (&sizes)[ALLOCATIONS]) {
  constexpr size_t step = 256;
  size_t needed = 0, places[ALLOCATIONS];
  for (int i = 0; i < ALLOCATIONS; ++i) {
    places[i] = needed;
    needed += (sizes[i] + step - 1) / step * step;
  }
  needed += step - 1;  // the storage may begin anywhere
  if (temporary == nullptr) {
    bytes = needed;
    return hipSuccess;
  }
  if (bytes < needed) return hipErrorInvalidValue;
  const size_t first = (reinterpret_cast<size_t>(temporary) + step - 1) / step * step;
  for (int i = 0; i < ALLOCATIONS; ++i) allocations[i] = reinterpret_cast<void*>(first + places[i]);
  return hipSuccess;
}
inline int DeviceCount() {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}
inline int CurrentDevice() {
  int device = -1;
  return hipGetDevice(&device) == hipSuccess ? device : -1;
}
// major * 100 + minor * 10 of the device's compute capability.
inline hipError_t SmVersion(int& version, int device = CurrentDevice()) {
  int major = 0, minor = 0;
  hipError_t error = hipDeviceGetAttribute(&major, hipDeviceAttributeComputeCapabilityMajor, device);
  if (error == hipSuccess) error = hipDeviceGetAttribute(&minor, hipDeviceAttributeComputeCapabilityMinor, device);
  version = major * 100 + minor * 10;
  return error;
}
inline hipError_t PtxVersion(int& version, int device = CurrentDevice()) { return SmVersion(version, device); }
inline hipError_t SyncStream(hipStream_t stream) { return hipStreamSynchronize(stream); }
template <typename Kernel>
hipError_t MaxSmOccupancy(int& blocks, Kernel kernel, int block_threads, int dynamic_bytes = 0) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_threads,
                                                      static_cast<size_t>(dynamic_bytes));
}
}  // namespace hipcub
