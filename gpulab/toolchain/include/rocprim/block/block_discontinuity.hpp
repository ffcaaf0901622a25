// rocprim::block_discontinuity: flags where neighbouring items of a block differ by a function of the caller's.
#pragma once
#include "../../hipcub/block/block_discontinuity.hpp"
#include "../collective.hpp"

namespace rocprim {
template <typename T, unsigned int DimX, unsigned int DimY = 1, unsigned int DimZ = 1>
class block_discontinuity {
  using Flags = ::hipcub::BlockDiscontinuity<T, static_cast<int>(DimX), static_cast<int>(DimY), static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Flags::TempStorage;
  template <unsigned int count, typename Flag, typename Op>
  __GPULAB_CALL__ flag_heads(Flag (&heads)[count], const T (&input)[count], Op op, storage_type& storage) {
    Flags(storage).FlagHeads(heads, const_cast<T(&)[count]>(input), op);
  }
  template <unsigned int count, typename Flag, typename Op>
  __GPULAB_CALL__ flag_heads(Flag (&heads)[count], T tile_predecessor, const T (&input)[count], Op op,
                             storage_type& storage) {
    Flags(storage).FlagHeads(heads, const_cast<T(&)[count]>(input), op, tile_predecessor);
  }
  template <unsigned int count, typename Flag, typename Op>
  __GPULAB_CALL__ flag_tails(Flag (&tails)[count], const T (&input)[count], Op op, storage_type& storage) {
    Flags(storage).FlagTails(tails, const_cast<T(&)[count]>(input), op);
  }
  template <unsigned int count, typename Flag, typename Op>
  __GPULAB_CALL__ flag_tails(Flag (&tails)[count], T tile_successor, const T (&input)[count], Op op,
                             storage_type& storage) {
    Flags(storage).FlagTails(tails, const_cast<T(&)[count]>(input), op, tile_successor);
  }
  template <unsigned int count, typename Flag, typename Op>
  __GPULAB_CALL__ flag_heads_and_tails(Flag (&heads)[count], Flag (&tails)[count], const T (&input)[count], Op op,
                                       storage_type& storage) {
    Flags(storage).FlagHeadsAndTails(heads, tails, const_cast<T(&)[count]>(input), op);
  }
  template <unsigned int count, typename Flag, typename Op>
  __GPULAB_CALL__ flag_heads_and_tails(Flag (&heads)[count], T tile_predecessor, Flag (&tails)[count], T tile_successor,
                                       const T (&input)[count], Op op, storage_type& storage) {
    Flags(storage).FlagHeadsAndTails(heads, tile_predecessor, tails, tile_successor, const_cast<T(&)[count]>(input),
                                     op);
  }
};
}  // namespace rocprim
