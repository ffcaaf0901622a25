// What hipCUB's classes for warps and blocks have in common: their shared memory.
#pragma once
#include "../gpulab/primitives/group.h"
#include "config.hpp"

namespace hipcub {
namespace collective {
// Self is the class that inherits it: without storage of the caller's, each class has its own.
template <typename Self, typename Storage>
class WithStorage {
 public:
  using TempStorage = Storage;
  __GPULAB_DEVICE_MEMBER__ WithStorage() : storage_(own()) {}
  __GPULAB_DEVICE_MEMBER__ explicit WithStorage(TempStorage& storage) : storage_(storage) {}

 protected:
  TempStorage& storage_;

 private:
  static __GPULAB_DEVICE_MEMBER__ TempStorage& own() {
    static __shared__ TempStorage storage;
    return storage;
  }
};
struct Empty {};
}  // namespace collective
#define __GPULAB_COLLECTIVE__(Base) \
  using typename Base::TempStorage; \
  using Base::Base;                 \
  using Base::storage_;
#define __GPULAB_COLLECTIVE_CALL__ __GPULAB_DEVICE_MEMBER__ __attribute__((convergent))
}  // namespace hipcub
