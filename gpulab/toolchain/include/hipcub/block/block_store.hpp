// hipcub::BlockStore: the items of a block go to memory.
#pragma once
#include "block_store_func.hpp"

namespace hipcub {
// The items are blocked, but for STRIPED. The TRANSPOSE forms exchange in shared memory, and write memory in order.
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int DimX, int ITEMS_PER_THREAD, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT, int DimY = 1,
          int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockStore
    : public collective::WithStorage<
          BlockStore<T, DimX, ITEMS_PER_THREAD, ALGORITHM, DimY, DimZ, ARCH>,
          ::gpulab::primitives::choose_t<ALGORITHM >= BLOCK_STORE_TRANSPOSE,
                                         ::gpulab::primitives::Items<T, DimX * DimY * DimZ * ITEMS_PER_THREAD>,
                                         collective::Empty>> {
  static constexpr unsigned int count = ITEMS_PER_THREAD;
  static constexpr bool transposes = ALGORITHM >= BLOCK_STORE_TRANSPOSE;
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<
      BlockStore,
      ::gpulab::primitives::choose_t<transposes, ::gpulab::primitives::Items<T, DimX * DimY * DimZ * ITEMS_PER_THREAD>,
                                     collective::Empty>>;
  using Blocked = ::gpulab::primitives::Blocked<Group, count>;
  using Place = ::gpulab::primitives::choose_t<
      ALGORITHM == BLOCK_STORE_STRIPED || ALGORITHM == BLOCK_STORE_TRANSPOSE,
      ::gpulab::primitives::Striped<Group, count>,
      ::gpulab::primitives::choose_t<transposes, ::gpulab::primitives::WaveStriped<Group, count>, Blocked>>;

 public:
  __GPULAB_COLLECTIVE__(Base)
  template <typename Output>
  __GPULAB_COLLECTIVE_CALL__ void Store(Output out, T (&items)[count]) {
    if constexpr (transposes) {
      T moved[count];
      ::gpulab::primitives::exchange<Group>(storage_, items, moved, Blocked{}, Place{});
      ::gpulab::primitives::store_items(out, moved, Place{});
    } else {
      ::gpulab::primitives::store_items(out, items, Place{});
    }
  }
  template <typename Output>
  __GPULAB_COLLECTIVE_CALL__ void Store(Output out, T (&items)[count], int valid) {
    if constexpr (transposes) {
      T moved[count];
      ::gpulab::primitives::exchange<Group>(storage_, items, moved, Blocked{}, Place{});
      ::gpulab::primitives::store_items(out, moved, static_cast<unsigned int>(valid), Place{});
    } else {
      ::gpulab::primitives::store_items(out, items, static_cast<unsigned int>(valid), Place{});
    }
  }
};
}  // namespace hipcub
