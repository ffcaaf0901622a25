// rocprim::block_shuffle: items of other threads of a block.
#pragma once
#include "../../hipcub/block/block_shuffle.hpp"
#include "../collective.hpp"

namespace rocprim {
template <typename T, unsigned int DimX, unsigned int DimY = 1, unsigned int DimZ = 1>
class block_shuffle {
  using Shuffle = ::hipcub::BlockShuffle<T, static_cast<int>(DimX), static_cast<int>(DimY), static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Shuffle::TempStorage;
  __GPULAB_CALL__ offset(const T& input, T& output, int distance, storage_type& storage) {
    Shuffle(storage).Offset(input, output, distance);
  }
  __GPULAB_CALL__ offset(const T& input, T& output, int distance = 1) { Shuffle().Offset(input, output, distance); }
  __GPULAB_CALL__ rotate(const T& input, T& output, unsigned int distance, storage_type& storage) {
    Shuffle(storage).Rotate(input, output, distance);
  }
  __GPULAB_CALL__ rotate(const T& input, T& output, unsigned int distance = 1) {
    Shuffle().Rotate(input, output, distance);
  }
  template <unsigned int count>
  __GPULAB_CALL__ up(T (&input)[count], T (&previous)[count], storage_type& storage) {
    Shuffle(storage).Up(input, previous);
  }
  template <unsigned int count>
  __GPULAB_CALL__ up(T (&input)[count], T (&previous)[count], T& block_suffix, storage_type& storage) {
    Shuffle(storage).Up(input, previous, block_suffix);
  }
  template <unsigned int count>
  __GPULAB_CALL__ down(T (&input)[count], T (&next)[count], storage_type& storage) {
    Shuffle(storage).Down(input, next);
  }
  template <unsigned int count>
  __GPULAB_CALL__ down(T (&input)[count], T (&next)[count], T& block_prefix, storage_type& storage) {
    Shuffle(storage).Down(input, next, block_prefix);
  }
};
}  // namespace rocprim
