// hipcub::BlockExchange: the items of a block change their arrangement.
#pragma once
#include "../collective.hpp"

namespace hipcub {
template <typename T, int DimX, int ITEMS_PER_THREAD, bool WARP_TIME_SLICING = false, int DimY = 1, int DimZ = 1,
          int ARCH = HIPCUB_ARCH>
class BlockExchange
    : public collective::WithStorage<BlockExchange<T, DimX, ITEMS_PER_THREAD, WARP_TIME_SLICING, DimY, DimZ, ARCH>,
                                     ::gpulab::primitives::Items<T, DimX * DimY * DimZ * ITEMS_PER_THREAD>> {
  static constexpr unsigned int count = ITEMS_PER_THREAD;
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base =
      collective::WithStorage<BlockExchange, ::gpulab::primitives::Items<T, DimX * DimY * DimZ * ITEMS_PER_THREAD>>;
  using Blocked = ::gpulab::primitives::Blocked<Group, count>;
  using Striped = ::gpulab::primitives::Striped<Group, count>;
  using WaveStriped = ::gpulab::primitives::WaveStriped<Group, count>;

 public:
  __GPULAB_COLLECTIVE__(Base)
#define __GPULAB_EXCHANGES__(Name, From, To)                                  \
  template <typename U>                                                       \
  __GPULAB_COLLECTIVE_CALL__ void Name(const T(&in)[count], U(&out)[count]) { \
    ::gpulab::primitives::exchange<Group>(storage_, in, out, From{}, To{});   \
  }                                                                           \
  __GPULAB_COLLECTIVE_CALL__ void Name(T(&items)[count]) { Name(items, items); }
  __GPULAB_EXCHANGES__(StripedToBlocked, Striped, Blocked)
  __GPULAB_EXCHANGES__(BlockedToStriped, Blocked, Striped)
  __GPULAB_EXCHANGES__(WarpStripedToBlocked, WaveStriped, Blocked)
  __GPULAB_EXCHANGES__(BlockedToWarpStriped, Blocked, WaveStriped)
#undef __GPULAB_EXCHANGES__
  // Each item goes to the place that its rank names.
#define __GPULAB_SCATTERS__(Name, To)                                                                                  \
  template <typename U, typename Offset>                                                                               \
  __GPULAB_COLLECTIVE_CALL__ void Name(const T(&in)[count], U(&out)[count], const Offset(&ranks)[count]) {             \
    ::gpulab::primitives::exchange<Group>(storage_, in, out, ::gpulab::primitives::ByRank<const Offset[count]>{ranks}, \
                                          To{});                                                                       \
  }                                                                                                                    \
  template <typename Offset>                                                                                           \
  __GPULAB_COLLECTIVE_CALL__ void Name(T(&items)[count], const Offset(&ranks)[count]) {                                \
    Name(items, items, ranks);                                                                                         \
  }
  __GPULAB_SCATTERS__(ScatterToBlocked, Blocked)
  __GPULAB_SCATTERS__(ScatterToStriped, Striped)
#undef __GPULAB_SCATTERS__
  // Items with a negative rank take no part.
  template <typename U, typename Offset>
  __GPULAB_COLLECTIVE_CALL__ void ScatterToStripedGuarded(const T (&in)[count], U (&out)[count],
                                                          const Offset (&ranks)[count]) {
    bool flags[count];
    for (unsigned int i = 0; i < count; ++i) flags[i] = ranks[i] >= 0;
    ScatterToStripedFlagged(in, out, ranks, flags);
  }
  template <typename Offset>
  __GPULAB_COLLECTIVE_CALL__ void ScatterToStripedGuarded(T (&items)[count], const Offset (&ranks)[count]) {
    ScatterToStripedGuarded(items, items, ranks);
  }
  // Items whose flag is not set take no part; where none arrives, an item keeps what it has.
  template <typename U, typename Offset, typename Flag>
  __GPULAB_COLLECTIVE_CALL__ void ScatterToStripedFlagged(const T (&in)[count], U (&out)[count],
                                                          const Offset (&ranks)[count], const Flag (&flags)[count]) {
    for (unsigned int i = 0; i < count; ++i) storage_[Blocked{}(i)] = in[i];
    Group::sync();
    for (unsigned int i = 0; i < count; ++i) {
      if (flags[i]) storage_[static_cast<unsigned int>(ranks[i])] = in[i];
    }
    Group::sync();
    for (unsigned int i = 0; i < count; ++i) out[i] = storage_[Striped{}(i)];
  }
  template <typename Offset, typename Flag>
  __GPULAB_COLLECTIVE_CALL__ void ScatterToStripedFlagged(T (&items)[count], const Offset (&ranks)[count],
                                                          const Flag (&flags)[count]) {
    ScatterToStripedFlagged(items, items, ranks, flags);
  }
};
}  // namespace hipcub
