// rocprim::warp_load and warp_store: the items of a logical warp, from memory and to it.
#pragma once
#include "../../hipcub/warp/warp_load.hpp"
#include "../../hipcub/warp/warp_store.hpp"
#include "../collective.hpp"

namespace rocprim {
enum class warp_load_method { warp_load_direct, warp_load_striped, warp_load_vectorize, warp_load_transpose };
enum class warp_store_method { warp_store_direct, warp_store_striped, warp_store_vectorize, warp_store_transpose };

template <typename T, unsigned int ItemsPerThread, unsigned int WarpSize = ::gpulab::primitives::wave_size,
          warp_load_method Method = warp_load_method::warp_load_direct>
class warp_load {
  using Load = ::hipcub::WarpLoad<T, static_cast<int>(ItemsPerThread), static_cast<::hipcub::WarpLoadAlgorithm>(Method),
                                  static_cast<int>(WarpSize)>;

 public:
  using storage_type = typename Load::TempStorage;
  template <typename Input>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread], storage_type&) {
    Load().Load(input, items);
  }
  template <typename Input>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread], unsigned int valid, storage_type&) {
    Load().Load(input, items, static_cast<int>(valid));
  }
  template <typename Input, typename Default>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread], unsigned int valid, Default out_of_bounds,
                       storage_type&) {
    Load().Load(input, items, static_cast<int>(valid), out_of_bounds);
  }
};
template <typename T, unsigned int ItemsPerThread, unsigned int WarpSize = ::gpulab::primitives::wave_size,
          warp_store_method Method = warp_store_method::warp_store_direct>
class warp_store {
  using Store = ::hipcub::WarpStore<T, static_cast<int>(ItemsPerThread),
                                    static_cast<::hipcub::WarpStoreAlgorithm>(Method), static_cast<int>(WarpSize)>;

 public:
  using storage_type = typename Store::TempStorage;
  template <typename Output>
  __GPULAB_CALL__ store(Output output, T (&items)[ItemsPerThread], storage_type&) {
    Store().Store(output, items);
  }
  template <typename Output>
  __GPULAB_CALL__ store(Output output, T (&items)[ItemsPerThread], unsigned int valid, storage_type&) {
    Store().Store(output, items, static_cast<int>(valid));
  }
};
}  // namespace rocprim
