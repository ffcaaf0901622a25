// hipcub::CacheModifiedInputIterator: elements read with a cache modifier.
#pragma once
#include "../../gpulab/primitives/iterators.h"
#include "../thread/thread_load.hpp"

namespace hipcub {
template <CacheLoadModifier MODIFIER, typename Value, typename Offset = ptrdiff_t>
struct CacheModifiedInputIterator
    : ::gpulab::primitives::IteratorBase<CacheModifiedInputIterator<MODIFIER, Value, Offset>, Value, Value> {
  const Value* from;
  CacheModifiedInputIterator() = default;
  __GPULAB_MEMBER__ CacheModifiedInputIterator(const Value* pointer) : from(pointer) {}
  template <typename Step>
  __GPULAB_MEMBER__ void advance(Step n) {
    from += n;
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const CacheModifiedInputIterator& other) const { return from - other.from; }
  __GPULAB_DEVICE_MEMBER__ Value read() const { return ThreadLoad<MODIFIER>(from); }
};
}  // namespace hipcub
