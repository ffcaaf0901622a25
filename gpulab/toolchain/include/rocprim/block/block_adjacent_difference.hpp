// rocprim::block_adjacent_difference: differences of neighbouring items of a block.
#pragma once
#include "../../hipcub/block/block_adjacent_difference.hpp"
#include "../collective.hpp"

namespace rocprim {
template <typename T, unsigned int DimX, unsigned int DimY = 1, unsigned int DimZ = 1>
class block_adjacent_difference {
  using Difference =
      ::hipcub::BlockAdjacentDifference<T, static_cast<int>(DimX), static_cast<int>(DimY), static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Difference::TempStorage;
#define __GPULAB_SUBTRACTS__(name, Name)                                                                              \
  template <typename Out, unsigned int count, typename Op>                                                            \
  __GPULAB_CALL__ name(const T(&input)[count], Out(&output)[count], Op op, storage_type& storage) {                   \
    Difference(storage).Name(const_cast<T(&)[count]>(input), output, op);                                             \
  }                                                                                                                   \
  template <typename Out, unsigned int count, typename Op>                                                            \
  __GPULAB_CALL__ name(const T(&input)[count], Out(&output)[count], Op op, T neighbour, storage_type& storage) {      \
    Difference(storage).Name(const_cast<T(&)[count]>(input), output, op, neighbour);                                  \
  }                                                                                                                   \
  template <typename Out, unsigned int count, typename Op>                                                            \
  __GPULAB_CALL__ name##_partial(const T(&input)[count], Out(&output)[count], Op op, unsigned int valid_items,        \
                                 storage_type& storage) {                                                             \
    Difference(storage).Name##PartialTile(const_cast<T(&)[count]>(input), output, op, static_cast<int>(valid_items)); \
  }
  __GPULAB_SUBTRACTS__(subtract_left, SubtractLeft)
  __GPULAB_SUBTRACTS__(subtract_right, SubtractRight)
#undef __GPULAB_SUBTRACTS__
};
}  // namespace rocprim
