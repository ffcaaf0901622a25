// hipcub::WarpLoad: each lane of a logical warp gets its items, blocked.
#pragma once
#include "../collective.hpp"

namespace hipcub {
enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };

template <typename T, int ITEMS_PER_THREAD, WarpLoadAlgorithm ALGORITHM = WARP_LOAD_DIRECT,
          int LOGICAL_WARP_THREADS = HIPCUB_DEVICE_WARP_THREADS, int ARCH = HIPCUB_ARCH>
class WarpLoad {
  using Group = ::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>;
  using Place = ::gpulab::primitives::choose_t<ALGORITHM == WARP_LOAD_STRIPED,
                                               ::gpulab::primitives::Striped<Group, ITEMS_PER_THREAD>,
                                               ::gpulab::primitives::Blocked<Group, ITEMS_PER_THREAD>>;

 public:
  using TempStorage = collective::Empty;
  __GPULAB_DEVICE_MEMBER__ WarpLoad() {}
  __GPULAB_DEVICE_MEMBER__ explicit WarpLoad(TempStorage&) {}
  template <typename Input>
  __GPULAB_COLLECTIVE_CALL__ void Load(Input in, T (&items)[ITEMS_PER_THREAD]) {
    ::gpulab::primitives::load_items(in, items, Place{});
  }
  template <typename Input>
  __GPULAB_COLLECTIVE_CALL__ void Load(Input in, T (&items)[ITEMS_PER_THREAD], int valid_items) {
    ::gpulab::primitives::load_items(in, items, static_cast<unsigned int>(valid_items), Place{});
  }
  template <typename Input, typename Default>
  __GPULAB_COLLECTIVE_CALL__ void Load(Input in, T (&items)[ITEMS_PER_THREAD], int valid_items, Default otherwise) {
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) items[i] = otherwise;
    Load(in, items, valid_items);
  }
};
}  // namespace hipcub
