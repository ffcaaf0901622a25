// rocprim::block_exchange: the items of a block change their arrangement.
#pragma once
#include "../../hipcub/block/block_exchange.hpp"
#include "../collective.hpp"

namespace rocprim {
template <typename T, unsigned int DimX, unsigned int ItemsPerThread, unsigned int DimY = 1, unsigned int DimZ = 1>
class block_exchange {
  using Exchange = ::hipcub::BlockExchange<T, static_cast<int>(DimX), static_cast<int>(ItemsPerThread), false,
                                           static_cast<int>(DimY), static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Exchange::TempStorage;
#define __GPULAB_EXCHANGES__(name, Name)                                                                     \
  template <typename U>                                                                                      \
  __GPULAB_CALL__ name(const T(&input)[ItemsPerThread], U(&output)[ItemsPerThread], storage_type& storage) { \
    Exchange(storage).Name(input, output);                                                                   \
  }                                                                                                          \
  template <typename U>                                                                                      \
  __GPULAB_CALL__ name(const T(&input)[ItemsPerThread], U(&output)[ItemsPerThread]) {                        \
    Exchange().Name(input, output);                                                                          \
  }
  __GPULAB_EXCHANGES__(blocked_to_striped, BlockedToStriped)
  __GPULAB_EXCHANGES__(striped_to_blocked, StripedToBlocked)
  __GPULAB_EXCHANGES__(blocked_to_warp_striped, BlockedToWarpStriped)
  __GPULAB_EXCHANGES__(warp_striped_to_blocked, WarpStripedToBlocked)
#undef __GPULAB_EXCHANGES__
#define __GPULAB_SCATTERS__(name, Name)                                               \
  template <typename U, typename Offset>                                              \
  __GPULAB_CALL__ name(const T(&input)[ItemsPerThread], U(&output)[ItemsPerThread],   \
                       const Offset(&ranks)[ItemsPerThread], storage_type& storage) { \
    Exchange(storage).Name(input, output, ranks);                                     \
  }
  __GPULAB_SCATTERS__(scatter_to_blocked, ScatterToBlocked)
  __GPULAB_SCATTERS__(scatter_to_striped, ScatterToStriped)
  __GPULAB_SCATTERS__(scatter_to_striped_guarded, ScatterToStripedGuarded)
#undef __GPULAB_SCATTERS__
};
}  // namespace rocprim
