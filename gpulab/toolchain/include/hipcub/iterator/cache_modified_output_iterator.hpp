// hipcub::CacheModifiedOutputIterator: elements stored with a cache modifier.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../thread/thread_store.hpp"

namespace hipcub {
template <CacheStoreModifier MODIFIER, typename Value>
struct CacheModifiedPlace {
  Value* to;
  __GPULAB_DEVICE_MEMBER__ const CacheModifiedPlace& operator=(const Value& value) const {
    ThreadStore<MODIFIER>(to, value);
    return *this;
  }
};
template <CacheStoreModifier MODIFIER, typename Value, typename Offset = ptrdiff_t>
struct CacheModifiedOutputIterator
    : ::gpulab::primitives::IteratorBase<CacheModifiedOutputIterator<MODIFIER, Value, Offset>, void,
                                         CacheModifiedPlace<MODIFIER, Value>> {
  Value* to;
  CacheModifiedOutputIterator() = default;
  __GPULAB_MEMBER__ CacheModifiedOutputIterator(Value* pointer) : to(pointer) {}
  template <typename Step>
  __GPULAB_MEMBER__ void advance(Step n) {
    to += n;
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const CacheModifiedOutputIterator& other) const { return to - other.to; }
  __GPULAB_MEMBER__ CacheModifiedPlace<MODIFIER, Value> read() const { return {to}; }
};
}  // namespace hipcub
