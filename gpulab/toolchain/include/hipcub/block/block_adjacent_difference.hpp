// hipcub::BlockAdjacentDifference: differences of neighbouring items of a block.
#pragma once
#include "../collective.hpp"

namespace hipcub {
template <typename T, int DimX, int DimY = 1, int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockAdjacentDifference : public collective::WithStorage<BlockAdjacentDifference<T, DimX, DimY, DimZ, ARCH>,
                                                               ::gpulab::primitives::Items<T, DimX * DimY * DimZ>> {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<BlockAdjacentDifference, ::gpulab::primitives::Items<T, DimX * DimY * DimZ>>;

  // Of the block's items the first `valid` have a result; the others are copied.
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void left(T (&in)[count], Out (&out)[count], Op& op, int valid, const T* before) {
    T previous = ::gpulab::primitives::item_before<Group>(storage_, in[count - 1]);
    int first = static_cast<int>(Group::index()) * count;
    if (first == 0 && before != nullptr) previous = *before;
#pragma unroll
    for (int i = count - 1; i >= 0; --i) {
      bool has = first + i < valid && (first + i > 0 || before != nullptr);
      T neighbour = i > 0 ? in[i > 0 ? i - 1 : 0] : previous;
      if (has) {
        out[i] = op(in[i], neighbour);
      } else {
        out[i] = in[i];
      }
    }
  }
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void right(T (&in)[count], Out (&out)[count], Op& op, int valid, const T* behind) {
    T next = ::gpulab::primitives::item_after<Group>(storage_, in[0]);
    int first = static_cast<int>(Group::index()) * count;
    if (behind != nullptr && Group::index() + 1 == Group::threads) next = *behind;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      bool has =
          first + i + 1 < valid || (behind != nullptr && first + i + 1 == static_cast<int>(Group::threads) * count);
      T neighbour = i + 1 < count ? in[i + 1 < count ? i + 1 : i] : next;
      if (has) {
        out[i] = op(in[i], neighbour);
      } else {
        out[i] = in[i];
      }
    }
  }
  static constexpr int threads = static_cast<int>(Group::threads);

 public:
  __GPULAB_COLLECTIVE__(Base)
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void SubtractLeft(T (&in)[count], Out (&out)[count], Op op) {
    left(in, out, op, threads * count, nullptr);
  }
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void SubtractLeft(T (&in)[count], Out (&out)[count], Op op, T tile_predecessor) {
    left(in, out, op, threads * count, &tile_predecessor);
  }
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void SubtractLeftPartialTile(T (&in)[count], Out (&out)[count], Op op, int valid_items) {
    left(in, out, op, valid_items, nullptr);
  }
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void SubtractLeftPartialTile(T (&in)[count], Out (&out)[count], Op op, int valid_items,
                                                          T tile_predecessor) {
    left(in, out, op, valid_items, &tile_predecessor);
  }
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void SubtractRight(T (&in)[count], Out (&out)[count], Op op) {
    right(in, out, op, threads * count, nullptr);
  }
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void SubtractRight(T (&in)[count], Out (&out)[count], Op op, T tile_successor) {
    right(in, out, op, threads * count, &tile_successor);
  }
  template <int count, typename Out, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void SubtractRightPartialTile(T (&in)[count], Out (&out)[count], Op op, int valid_items) {
    right(in, out, op, valid_items, nullptr);
  }
};
}  // namespace hipcub
