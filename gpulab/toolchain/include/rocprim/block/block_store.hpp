// rocprim::block_store and block_store_*: the items of a block go to memory.
#pragma once
#include "../../hipcub/block/block_store.hpp"
#include "block_load.hpp"

namespace rocprim {
enum class block_store_method {
  block_store_direct,
  block_store_striped,
  block_store_vectorize,
  block_store_transpose,
  block_store_warp_transpose,
  default_method = block_store_direct
};
template <typename T, unsigned int DimX, unsigned int ItemsPerThread,
          block_store_method Method = block_store_method::block_store_direct, unsigned int DimY = 1,
          unsigned int DimZ = 1>
class block_store {
  using Store = ::hipcub::BlockStore<T, static_cast<int>(DimX), static_cast<int>(ItemsPerThread),
                                     static_cast<::hipcub::BlockStoreAlgorithm>(Method), static_cast<int>(DimY),
                                     static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Store::TempStorage;
  template <typename Output>
  __GPULAB_CALL__ store(Output output, T (&items)[ItemsPerThread], storage_type& storage) {
    Store(storage).Store(output, items);
  }
  template <typename Output>
  __GPULAB_CALL__ store(Output output, T (&items)[ItemsPerThread]) {
    Store().Store(output, items);
  }
  template <typename Output>
  __GPULAB_CALL__ store(Output output, T (&items)[ItemsPerThread], unsigned int valid, storage_type& storage) {
    Store(storage).Store(output, items, static_cast<int>(valid));
  }
  template <typename Output>
  __GPULAB_CALL__ store(Output output, T (&items)[ItemsPerThread], unsigned int valid) {
    Store().Store(output, items, static_cast<int>(valid));
  }
};
#define __GPULAB_STORES__(name, function, parameters, arguments)                                            \
  template <parameters typename Output, typename T, unsigned int count>                                     \
  __GPULAB_FUNCTION__ void name(unsigned int thread, Output output, T(&items)[count]) {                     \
    ::hipcub::function arguments(static_cast<int>(thread), output, items);                                  \
  }                                                                                                         \
  template <parameters typename Output, typename T, unsigned int count>                                     \
  __GPULAB_FUNCTION__ void name(unsigned int thread, Output output, T(&items)[count], unsigned int valid) { \
    ::hipcub::function arguments(static_cast<int>(thread), output, items, static_cast<int>(valid));         \
  }
__GPULAB_STORES__(block_store_direct_blocked, StoreDirectBlocked, , )
__GPULAB_STORES__(block_store_direct_striped, StoreDirectStriped, __GPULAB_BLOCK__, <BlockSize>)
#undef __GPULAB_STORES__
#undef __GPULAB_BLOCK__
}  // namespace rocprim
