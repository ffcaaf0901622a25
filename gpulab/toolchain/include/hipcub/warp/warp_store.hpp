// hipcub::WarpStore: the items of a logical warp, blocked, go to memory.
#pragma once
#include "../collective.hpp"

namespace hipcub {
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };

template <typename T, int ITEMS_PER_THREAD, WarpStoreAlgorithm ALGORITHM = WARP_STORE_DIRECT,
          int LOGICAL_WARP_THREADS = HIPCUB_DEVICE_WARP_THREADS, int ARCH = HIPCUB_ARCH>
class WarpStore {
  using Group = ::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>;
  using Place = ::gpulab::primitives::choose_t<ALGORITHM == WARP_STORE_STRIPED,
                                               ::gpulab::primitives::Striped<Group, ITEMS_PER_THREAD>,
                                               ::gpulab::primitives::Blocked<Group, ITEMS_PER_THREAD>>;

 public:
  using TempStorage = collective::Empty;
  __GPULAB_DEVICE_MEMBER__ WarpStore() {}
  __GPULAB_DEVICE_MEMBER__ explicit WarpStore(TempStorage&) {}
  template <typename Output>
  __GPULAB_COLLECTIVE_CALL__ void Store(Output out, T (&items)[ITEMS_PER_THREAD]) {
    ::gpulab::primitives::store_items(out, items, Place{});
  }
  template <typename Output>
  __GPULAB_COLLECTIVE_CALL__ void Store(Output out, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    ::gpulab::primitives::store_items(out, items, static_cast<unsigned int>(valid_items), Place{});
  }
};
}  // namespace hipcub
