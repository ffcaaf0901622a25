// hipcub::CachingDeviceAllocator: device memory that is kept when it is given back, in bins of growing size.
#pragma once
#include <map>
#include <mutex>

#include "config.hpp"

namespace hipcub {
// A request is rounded up to a power of bin_growth; more than growth^max_bin is not kept. A block that was freed on one
// stream serves another only when that stream's work is done.
class CachingDeviceAllocator {
 public:
  static constexpr unsigned int INVALID_BIN = ~0u;
  static constexpr size_t INVALID_SIZE = ~size_t(0);
  static constexpr int INVALID_DEVICE_ORDINAL = -1;
  struct TotalBytes {
    size_t free = 0, live = 0;
  };

  explicit CachingDeviceAllocator(unsigned int growth, unsigned int least_bin = 1, unsigned int most_bin = INVALID_BIN,
                                  size_t max_cached = INVALID_SIZE, bool skip_cleanup = false, bool debug_ = false)
      : bin_growth(growth),
        min_bin(least_bin),
        max_bin(most_bin),
        min_bin_bytes(power(growth, least_bin)),
        max_bin_bytes(power(growth, most_bin)),
        max_cached_bytes(max_cached),
        skip_cleanup(skip_cleanup),
        debug(debug_) {}
  // Bins of 512 bytes to 2 MiB, and 6 MiB - 1 kept at most.
  explicit CachingDeviceAllocator(bool skip_cleanup = false, bool debug_ = false)
      : CachingDeviceAllocator(8, 3, 7, power(8, 7) * 3 - 1, skip_cleanup, debug_) {}
  CachingDeviceAllocator(const CachingDeviceAllocator&) = delete;
  ~CachingDeviceAllocator() {
    if (!skip_cleanup) (void)FreeAllCached();
  }

  hipError_t SetMaxCachedBytes(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    max_cached_bytes = bytes;
    return hipSuccess;
  }
  hipError_t DeviceAllocate(int device, void** pointer, size_t bytes, hipStream_t stream = nullptr) {
    std::lock_guard<std::mutex> lock(mutex);
    *pointer = nullptr;
    hipError_t error = hipSuccess;
    if (device == INVALID_DEVICE_ORDINAL && (error = hipGetDevice(&device)) != hipSuccess) return error;
    Block made{device, stream, rounded(bytes), nullptr};
    for (auto [one, last] = cached.equal_range({device, made.bytes}); one != last; ++one) {
      bool ready = one->second.stream == stream || hipEventQuery(one->second.ready) == hipSuccess;
      if (!ready || made.bytes > max_bin_bytes) continue;
      *pointer = one->second.pointer;
      made.ready = one->second.ready;
      cached_bytes[device].free -= made.bytes;
      cached.erase(one);
      break;
    }
    int before = device;
    if (*pointer == nullptr) {
      if ((error = enter(device, before)) != hipSuccess) return error;
      error = hipMalloc(pointer, made.bytes);
      if (error == hipErrorOutOfMemory) {  // give back what is kept, and try once more
        (void)hipGetLastError();
        drop(device);
        error = hipMalloc(pointer, made.bytes);
      }
      if (error == hipSuccess) error = hipEventCreateWithFlags(&made.ready, hipEventDisableTiming);
      (void)hipSetDevice(before);
      if (error != hipSuccess) return error;
    }
    made.pointer = *pointer;
    live[*pointer] = made;
    cached_bytes[device].live += made.bytes;
    return hipSuccess;
  }
  hipError_t DeviceAllocate(void** pointer, size_t bytes, hipStream_t stream = nullptr) {
    return DeviceAllocate(INVALID_DEVICE_ORDINAL, pointer, bytes, stream);
  }
  hipError_t DeviceFree(int device, void* pointer) {
    std::lock_guard<std::mutex> lock(mutex);
    hipError_t error = hipSuccess;
    if (device == INVALID_DEVICE_ORDINAL && (error = hipGetDevice(&device)) != hipSuccess) return error;
    int before = device;
    if ((error = enter(device, before)) != hipSuccess) return error;
    auto found = live.find(pointer);
    if (found == live.end()) {
      error = hipFree(pointer);
    } else {
      Block block = found->second;
      live.erase(found);
      cached_bytes[device].live -= block.bytes;
      if (block.bytes <= max_bin_bytes && cached_bytes[device].free + block.bytes <= max_cached_bytes) {
        error = hipEventRecord(block.ready, block.stream);
        cached_bytes[device].free += block.bytes;
        cached.emplace(std::pair(device, block.bytes), block);
      } else {
        error = release(block);
      }
    }
    (void)hipSetDevice(before);
    return error;
  }
  hipError_t DeviceFree(void* pointer) { return DeviceFree(INVALID_DEVICE_ORDINAL, pointer); }
  hipError_t FreeAllCached() {
    std::lock_guard<std::mutex> lock(mutex);
    hipError_t error = hipSuccess;
    while (!cached.empty() && error == hipSuccess) error = drop(cached.begin()->first.first);
    return error;
  }

  std::map<int, TotalBytes> cached_bytes;

 private:
  struct Block {
    int device;
    hipStream_t stream;
    size_t bytes;
    void* pointer;
    hipEvent_t ready = nullptr;
  };
  static size_t power(size_t base, unsigned int exponent) {
    size_t made = 1;
    for (unsigned int i = 0; i < exponent; ++i) {
      if (made > INVALID_SIZE / base) return INVALID_SIZE;
      made *= base;
    }
    return made;
  }
  size_t rounded(size_t bytes) const {
    size_t bin = min_bin_bytes;
    while (bin < bytes && bin <= max_bin_bytes / bin_growth) bin *= bin_growth;
    return bin < bytes ? bytes : bin;
  }
  static hipError_t enter(int device, int& before) {
    hipError_t error = hipGetDevice(&before);
    return error == hipSuccess && before != device ? hipSetDevice(device) : error;
  }
  static hipError_t release(const Block& block) {
    hipError_t error = hipFree(block.pointer);
    hipError_t second = hipEventDestroy(block.ready);
    return error == hipSuccess ? second : error;
  }
  hipError_t drop(int device) {
    int before = device;
    hipError_t error = enter(device, before);
    for (auto one = cached.begin(); one != cached.end() && error == hipSuccess;) {
      if (one->first.first != device) {
        ++one;
        continue;
      }
      error = release(one->second);
      cached_bytes[device].free -= one->second.bytes;
      one = cached.erase(one);
    }
    (void)hipSetDevice(before);
    return error;
  }

  std::mutex mutex;
  unsigned int bin_growth, min_bin, max_bin;
  size_t min_bin_bytes, max_bin_bytes, max_cached_bytes;
  bool skip_cleanup, debug;
  std::map<void*, Block> live;
  std::multimap<std::pair<int, size_t>, Block> cached;
};
}  // namespace hipcub
