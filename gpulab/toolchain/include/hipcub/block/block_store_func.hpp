// hipCUB's functions that store the items of a thread: blocked, striped over the block, striped over each wave.
#pragma once
#include "block_load_func.hpp"

namespace hipcub {
#define __GPULAB_STORES__(Name, parameters, place)                                                \
  template <parameters typename T, int count, typename Output>                                    \
  __GPULAB_FUNCTION__ void Name(int thread, Output out, T(&items)[count]) {                       \
    ::gpulab::primitives::store_items(out, items, place);                                         \
  }                                                                                               \
  template <parameters typename T, int count, typename Output>                                    \
  __GPULAB_FUNCTION__ void Name(int thread, Output out, T(&items)[count], int valid_items) {      \
    ::gpulab::primitives::store_items(out, items, static_cast<unsigned int>(valid_items), place); \
  }
__GPULAB_STORES__(StoreDirectBlocked, , (collective::BlockedFrom{static_cast<unsigned int>(thread) * count}))
__GPULAB_STORES__(StoreDirectStriped, __GPULAB_THREADS__,
                  (collective::StripedFrom<BLOCK_THREADS>{static_cast<unsigned int>(thread)}))
__GPULAB_STORES__(StoreDirectWarpStriped, , (collective::wave_striped<count>(static_cast<unsigned int>(thread))))
#undef __GPULAB_STORES__
template <typename T, int count>
__GPULAB_FUNCTION__ void StoreDirectBlockedVectorized(int thread, T* out, T (&items)[count]) {
  StoreDirectBlocked(thread, out, items);
}
}  // namespace hipcub
