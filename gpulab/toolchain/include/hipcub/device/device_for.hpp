// hipcub::DeviceFor: a function for each item, or for each number.
#pragma once
#include "../../gpulab/primitives/launching.h"
#include "../config.hpp"

namespace hipcub {
class DeviceFor {
  template <typename Iterator, typename Op>
  struct Each {
    Iterator first;
    Op op;
    __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) { op(*(first + i)); }
  };
  // The item by value: the function cannot change it.
  template <typename Iterator, typename Op>
  struct EachCopy {
    Iterator first;
    Op op;
    __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) {
      ::gpulab::primitives::element_of<Iterator> item = *(first + i);
      op(item);
    }
  };
  template <typename Count, typename Op>
  struct Number {
    Op op;
    __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) { op(static_cast<Count>(i)); }
  };
  template <typename Action>
  static hipError_t run(void* temporary, size_t& bytes, uint64_t items, Action action, hipStream_t stream) {
    hipError_t result;
    if (!::gpulab::primitives::Storage(temporary, bytes).fits(result)) return result;
    return ::gpulab::primitives::for_each_index(items, action, stream);
  }

 public:
  template <typename Count, typename Op>
  static hipError_t Bulk(Count count, Op op, hipStream_t stream = nullptr) {
    return ::gpulab::primitives::for_each_index(static_cast<uint64_t>(count), Number<Count, Op>{op}, stream);
  }
  template <typename Iterator, typename Count, typename Op>
  static hipError_t ForEachN(Iterator first, Count count, Op op, hipStream_t stream = nullptr) {
    return ::gpulab::primitives::for_each_index(static_cast<uint64_t>(count), Each<Iterator, Op>{first, op}, stream);
  }
  template <typename Iterator, typename Op>
  static hipError_t ForEach(Iterator first, Iterator last, Op op, hipStream_t stream = nullptr) {
    return ForEachN(first, last - first, op, stream);
  }
  template <typename Iterator, typename Count, typename Op>
  static hipError_t ForEachCopyN(Iterator first, Count count, Op op, hipStream_t stream = nullptr) {
    return ::gpulab::primitives::for_each_index(static_cast<uint64_t>(count), EachCopy<Iterator, Op>{first, op},
                                                stream);
  }
  template <typename Iterator, typename Op>
  static hipError_t ForEachCopy(Iterator first, Iterator last, Op op, hipStream_t stream = nullptr) {
    return ForEachCopyN(first, last - first, op, stream);
  }

  // The same with temporary storage, of which they need none.
  template <typename Count, typename Op>
  static hipError_t Bulk(void* temporary, size_t& bytes, Count count, Op op, hipStream_t stream = nullptr) {
    return run(temporary, bytes, static_cast<uint64_t>(count), Number<Count, Op>{op}, stream);
  }
  template <typename Iterator, typename Count, typename Op>
  static hipError_t ForEachN(void* temporary, size_t& bytes, Iterator first, Count count, Op op,
                             hipStream_t stream = nullptr) {
    return run(temporary, bytes, static_cast<uint64_t>(count), Each<Iterator, Op>{first, op}, stream);
  }
  template <typename Iterator, typename Op>
  static hipError_t ForEach(void* temporary, size_t& bytes, Iterator first, Iterator last, Op op,
                            hipStream_t stream = nullptr) {
    return ForEachN(temporary, bytes, first, last - first, op, stream);
  }
  template <typename Iterator, typename Count, typename Op>
  static hipError_t ForEachCopyN(void* temporary, size_t& bytes, Iterator first, Count count, Op op,
                                 hipStream_t stream = nullptr) {
    return run(temporary, bytes, static_cast<uint64_t>(count), EachCopy<Iterator, Op>{first, op}, stream);
  }
  template <typename Iterator, typename Op>
  static hipError_t ForEachCopy(void* temporary, size_t& bytes, Iterator first, Iterator last, Op op,
                                hipStream_t stream = nullptr) {
    return ForEachCopyN(temporary, bytes, first, last - first, op, stream);
  }
};
}  // namespace hipcub
