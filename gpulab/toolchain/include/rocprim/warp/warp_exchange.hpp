// rocprim::warp_exchange: the items of a logical warp change their arrangement.
#pragma once
#include "../../hipcub/warp/warp_exchange.hpp"
#include "../collective.hpp"

namespace rocprim {
template <typename T, unsigned int ItemsPerThread, unsigned int WarpSize = ::gpulab::primitives::wave_size>
class warp_exchange {
  using Exchange = ::hipcub::WarpExchange<T, static_cast<int>(ItemsPerThread), static_cast<int>(WarpSize)>;

 public:
  using storage_type = typename Exchange::TempStorage;
  template <typename U>
  __GPULAB_CALL__ blocked_to_striped(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                     storage_type& storage) {
    Exchange(storage).BlockedToStriped(input, output);
  }
  template <typename U>
  __GPULAB_CALL__ striped_to_blocked(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                     storage_type& storage) {
    Exchange(storage).StripedToBlocked(input, output);
  }
  template <typename U, typename Offset>
  __GPULAB_CALL__ scatter_to_striped(const T (&input)[ItemsPerThread], U (&output)[ItemsPerThread],
                                     const Offset (&ranks)[ItemsPerThread], storage_type& storage) {
    Exchange(storage).ScatterToStriped(input, output, const_cast<Offset(&)[ItemsPerThread]>(ranks));
  }
};
}  // namespace rocprim
