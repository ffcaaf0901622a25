// rocprim::block_load and block_load_*: each thread of a block gets its items.
#pragma once
#include "../../hipcub/block/block_load.hpp"
#include "../collective.hpp"

namespace rocprim {
enum class block_load_method {
  block_load_direct,
  block_load_striped,
  block_load_vectorize,
  block_load_transpose,
  block_load_warp_transpose,
  default_method = block_load_direct
};
template <typename T, unsigned int DimX, unsigned int ItemsPerThread,
          block_load_method Method = block_load_method::block_load_direct, unsigned int DimY = 1, unsigned int DimZ = 1>
class block_load {
  using Load = ::hipcub::BlockLoad<T, static_cast<int>(DimX), static_cast<int>(ItemsPerThread),
                                   static_cast<::hipcub::BlockLoadAlgorithm>(Method), static_cast<int>(DimY),
                                   static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Load::TempStorage;
  template <typename Input>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread], storage_type& storage) {
    Load(storage).Load(input, items);
  }
  template <typename Input>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread]) {
    Load().Load(input, items);
  }
  template <typename Input>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread], unsigned int valid, storage_type& storage) {
    Load(storage).Load(input, items, static_cast<int>(valid));
  }
  template <typename Input>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread], unsigned int valid) {
    Load().Load(input, items, static_cast<int>(valid));
  }
  template <typename Input, typename Default>
  __GPULAB_CALL__ load(Input input, T (&items)[ItemsPerThread], unsigned int valid, Default out_of_bounds,
                       storage_type& storage) {
    Load(storage).Load(input, items, static_cast<int>(valid), out_of_bounds);
  }
};
#define __GPULAB_LOADS__(name, function, parameters, arguments)                                                   \
  template <parameters typename Input, typename T, unsigned int count>                                            \
  __GPULAB_FUNCTION__ void name(unsigned int thread, Input input, T(&items)[count]) {                             \
    ::hipcub::function arguments(static_cast<int>(thread), input, items);                                         \
  }                                                                                                               \
  template <parameters typename Input, typename T, unsigned int count>                                            \
  __GPULAB_FUNCTION__ void name(unsigned int thread, Input input, T(&items)[count], unsigned int valid) {         \
    ::hipcub::function arguments(static_cast<int>(thread), input, items, static_cast<int>(valid));                \
  }                                                                                                               \
  template <parameters typename Input, typename T, unsigned int count, typename Default>                          \
  __GPULAB_FUNCTION__ void name(unsigned int thread, Input input, T(&items)[count], unsigned int valid,           \
                                Default out_of_bounds) {                                                          \
    ::hipcub::function arguments(static_cast<int>(thread), input, items, static_cast<int>(valid), out_of_bounds); \
  }
#define __GPULAB_BLOCK__ unsigned int BlockSize,
__GPULAB_LOADS__(block_load_direct_blocked, LoadDirectBlocked, , )
__GPULAB_LOADS__(block_load_direct_striped, LoadDirectStriped, __GPULAB_BLOCK__, <BlockSize>)
#undef __GPULAB_LOADS__
}  // namespace rocprim
