// hipcub::BlockLoad: each thread of a block gets its items.
#pragma once
#include "block_load_func.hpp"

namespace hipcub {
// The items end up blocked, but for STRIPED. The TRANSPOSE forms read memory in order, and exchange in shared memory.
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

template <typename T, int DimX, int ITEMS_PER_THREAD, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT, int DimY = 1,
          int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockLoad
    : public collective::WithStorage<
          BlockLoad<T, DimX, ITEMS_PER_THREAD, ALGORITHM, DimY, DimZ, ARCH>,
          ::gpulab::primitives::choose_t<ALGORITHM >= BLOCK_LOAD_TRANSPOSE,
                                         ::gpulab::primitives::Items<T, DimX * DimY * DimZ * ITEMS_PER_THREAD>,
                                         collective::Empty>> {
  static constexpr unsigned int count = ITEMS_PER_THREAD;
  static constexpr bool transposes = ALGORITHM >= BLOCK_LOAD_TRANSPOSE;
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<
      BlockLoad,
      ::gpulab::primitives::choose_t<transposes, ::gpulab::primitives::Items<T, DimX * DimY * DimZ * ITEMS_PER_THREAD>,
                                     collective::Empty>>;
  using Blocked = ::gpulab::primitives::Blocked<Group, count>;
  // How memory is read.
  using Place = ::gpulab::primitives::choose_t<
      ALGORITHM == BLOCK_LOAD_STRIPED || ALGORITHM == BLOCK_LOAD_TRANSPOSE, ::gpulab::primitives::Striped<Group, count>,
      ::gpulab::primitives::choose_t<transposes, ::gpulab::primitives::WaveStriped<Group, count>, Blocked>>;

 public:
  __GPULAB_COLLECTIVE__(Base)
  template <typename Input>
  __GPULAB_COLLECTIVE_CALL__ void Load(Input in, T (&items)[count]) {
    ::gpulab::primitives::load_items(in, items, Place{});
    if constexpr (transposes) ::gpulab::primitives::exchange<Group>(storage_, items, items, Place{}, Blocked{});
  }
  // Items from `valid` on are not read; they keep what they had.
  template <typename Input>
  __GPULAB_COLLECTIVE_CALL__ void Load(Input in, T (&items)[count], int valid) {
    if constexpr (transposes) {
      T loaded[count];
      ::gpulab::primitives::load_items(in, loaded, static_cast<unsigned int>(valid), Place{});
      ::gpulab::primitives::exchange<Group>(storage_, loaded, loaded, Place{}, Blocked{});
#pragma unroll
      for (unsigned int i = 0; i < count; ++i) {
        if (Blocked{}(i) < static_cast<unsigned int>(valid)) items[i] = loaded[i];
      }
    } else {
      ::gpulab::primitives::load_items(in, items, static_cast<unsigned int>(valid), Place{});
    }
  }
  template <typename Input, typename Default>
  __GPULAB_COLLECTIVE_CALL__ void Load(Input in, T (&items)[count], int valid, Default otherwise) {
#pragma unroll
    for (unsigned int i = 0; i < count; ++i) items[i] = otherwise;
    Load(in, items, valid);
  }
};
}  // namespace hipcub
