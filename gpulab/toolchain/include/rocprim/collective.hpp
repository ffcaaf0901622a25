// What rocPRIM's classes for blocks have in common: shared memory of the caller's, or their own.
#pragma once
#include "functional.hpp"
#include "intrinsics.hpp"
#include "types.hpp"

#define __GPULAB_CALL__ __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void
// In a class with storage_type: its own storage, for calls without one.
#define __GPULAB_OWN_STORAGE__                                  \
  static __GPULAB_DEVICE_MEMBER__ storage_type& own_storage() { \
    static __shared__ storage_type storage;                     \
    return storage;                                             \
  }
