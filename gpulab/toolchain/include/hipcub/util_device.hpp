// hipCUB's host functions about the device. CUB's names with "Ptx" give what HIP knows instead: the architecture's
// number.
#pragma once
#include "config.hpp"

namespace hipcub {
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
