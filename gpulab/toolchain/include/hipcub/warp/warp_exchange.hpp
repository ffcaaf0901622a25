// hipcub::WarpExchange: the items of a logical warp change their arrangement.
#pragma once
#include "../collective.hpp"

namespace hipcub {
enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

template <typename T, int ITEMS_PER_THREAD, int LOGICAL_WARP_THREADS = HIPCUB_DEVICE_WARP_THREADS,
          int ARCH = HIPCUB_ARCH, WarpExchangeAlgorithm ALGORITHM = WARP_EXCHANGE_SMEM>
class WarpExchange {
  static constexpr unsigned int count = ITEMS_PER_THREAD;
  using Group = ::gpulab::primitives::Warp<LOGICAL_WARP_THREADS>;
  using Blocked = ::gpulab::primitives::Blocked<Group, count>;
  using Striped = ::gpulab::primitives::Striped<Group, count>;

 public:
  using TempStorage = ::gpulab::primitives::Items<T, Group::threads * count>;
  explicit __GPULAB_DEVICE_MEMBER__ WarpExchange(TempStorage& storage) : storage_(storage) {}
  template <typename U>
  __GPULAB_COLLECTIVE_CALL__ void BlockedToStriped(const T (&in)[count], U (&out)[count]) {
    ::gpulab::primitives::exchange<Group>(storage_, in, out, Blocked{}, Striped{});
  }
  template <typename U>
  __GPULAB_COLLECTIVE_CALL__ void StripedToBlocked(const T (&in)[count], U (&out)[count]) {
    ::gpulab::primitives::exchange<Group>(storage_, in, out, Striped{}, Blocked{});
  }
  template <typename Offset>
  __GPULAB_COLLECTIVE_CALL__ void ScatterToStriped(T (&items)[count], Offset (&ranks)[count]) {
    ScatterToStriped(items, items, ranks);
  }
  template <typename U, typename Offset>
  __GPULAB_COLLECTIVE_CALL__ void ScatterToStriped(const T (&in)[count], U (&out)[count], Offset (&ranks)[count]) {
    ::gpulab::primitives::exchange<Group>(storage_, in, out, ::gpulab::primitives::ByRank<Offset[count]>{ranks},
                                          Striped{});
  }

 private:
  TempStorage& storage_;
};
}  // namespace hipcub
