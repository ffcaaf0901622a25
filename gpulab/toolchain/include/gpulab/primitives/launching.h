// How algorithms of the whole device use temporary storage, cut their input into parts, and report errors.
#pragma once
#include "wave.h"
#ifndef __GPULAB_PROGRAM__
#error "algorithms of the whole device are called by the host: build this source with %%hipcc or gpulab hipcc"
#endif
#include <iostream>  // as rocPRIM's headers of whole devices do, and sources count on it

namespace gpulab {
namespace primitives {

inline constexpr unsigned int block_threads = 256;
inline constexpr unsigned int part_multiple = 256;
inline constexpr unsigned int least_part = 1024;
inline constexpr unsigned int most_parts = 1024;

// The input in parts of `size` items (a multiple of part_multiple); the last one may be shorter.
struct Parts {
  uint64_t items;
  uint64_t size;
  unsigned int count;
  explicit Parts(uint64_t n) : items(n) {
    uint64_t wanted = divide_up(n, static_cast<uint64_t>(most_parts));
    size = round_up(wanted < least_part ? least_part : wanted, static_cast<uint64_t>(part_multiple));
    count = static_cast<unsigned int>(divide_up(n, size));
  }
  // Four waves of 64 lanes are a block; of waves of 32 lanes the second four have nothing to do.
  unsigned int blocks() const { return divide_up(count, 4u); }
};
// A wave's part, in the kernel.
struct Part {
  unsigned int number;
  uint64_t begin;
  unsigned int items;
};
__GPULAB_FUNCTION__ __attribute__((convergent)) bool next_part(const Parts& parts, Part& part) {
  unsigned int wave = wave_index();
  part.number = blockIdx.x * 4 + wave;
  if (wave >= 4 || part.number >= parts.count) return false;
  part.begin = part.number * parts.size;
  uint64_t rest = parts.items - part.begin;
  part.items = static_cast<unsigned int>(rest < parts.size ? rest : parts.size);
  return true;
}

// Pieces of the temporary storage. With no storage yet, `fits` gives the size that it must have.
class Storage {
 public:
  Storage(void* start, size_t& bytes) : start_(reinterpret_cast<uintptr_t>(start)), bytes_(bytes) {}
  // Adds a piece; its address is set by `fits`.
  template <typename T>
  void add(T*& pointer, size_t count) {
    size_t offset = used_;
    used_ += round_up(count * sizeof(T), size_t(256));
    pointer = reinterpret_cast<T*>(start_ + offset);
  }
  // Whether the call shall work: the storage is there. If not, `result` is what the call returns.
  bool fits(hipError_t& result) {
    size_t wanted = used_ == 0 ? 1 : used_;
    result = hipSuccess;
    if (start_ == 0) {
      bytes_ = wanted;
      return false;
    }
    if (bytes_ < wanted) {
      result = hipErrorInvalidValue;
      return false;
    }
    return true;
  }

 private:
  uintptr_t start_;
  size_t& bytes_;
  size_t used_ = 0;
};

// The error of the launches so far.
inline hipError_t finish() { return hipGetLastError(); }
// What a call returns; with `debug`, it waits for its kernels, and returns what they ended with.
inline hipError_t ended(void* temporary, hipError_t error, hipStream_t stream, bool debug) {
  return temporary != nullptr && error == hipSuccess && debug ? hipStreamSynchronize(stream) : error;
}

// Runs action(i) for each i below the count.
template <typename Action>
__global__ __launch_bounds__(block_threads) void for_each_kernel(uint64_t count, Action action) {
  uint64_t step = static_cast<uint64_t>(gridDim.x) * block_threads;
#pragma clang loop unroll(disable)
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * block_threads + threadIdx.x; i < count; i += step) action(i);
}
template <typename Action>
hipError_t for_each_index(uint64_t count, Action action, hipStream_t stream) {
  if (count == 0) return hipSuccess;
  uint64_t blocks = divide_up(count, static_cast<uint64_t>(block_threads));
  for_each_kernel<<<static_cast<unsigned int>(blocks < 4096 ? blocks : 4096), block_threads, 0, stream>>>(count,
                                                                                                          action);
  return finish();
}
template <typename Input, typename Output>
struct CopyAction {
  Input input;
  Output output;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) { at(output, i) = at(input, i); }
};
template <typename Input, typename Output>
hipError_t copy(Input input, Output output, uint64_t count, hipStream_t stream) {
  return for_each_index(count, CopyAction<Input, Output>{input, output}, stream);
}

}  // namespace primitives
}  // namespace gpulab
