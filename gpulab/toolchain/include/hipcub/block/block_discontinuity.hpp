// hipcub::BlockDiscontinuity: flags where neighbouring items of a block differ by a function of the caller's.
#pragma once
#include "../collective.hpp"

namespace hipcub {
template <typename T, int DimX, int DimY = 1, int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockDiscontinuity : public collective::WithStorage<BlockDiscontinuity<T, DimX, DimY, DimZ, ARCH>,
                                                          ::gpulab::primitives::Items<T, 2 * DimX * DimY * DimZ>> {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<BlockDiscontinuity, ::gpulab::primitives::Items<T, 2 * DimX * DimY * DimZ>>;

  // Both neighbours' items with one barrier: the threads' last items, then their first ones.
  template <int count>
  __GPULAB_COLLECTIVE_CALL__ void share(T (&input)[count]) {
    storage_[Group::index()] = input[count - 1];
    storage_[Group::threads + Group::index()] = input[0];
    Group::sync();
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void heads(Flag (&flags)[count], T (&input)[count], Op& op, const T* before) {
    unsigned int thread = Group::index();
    if (thread == 0 && before == nullptr) {
      flags[0] = Flag(1);
    } else {
      T previous = thread == 0 ? *before : storage_[thread - 1];
      flags[0] = static_cast<Flag>(
          ::gpulab::primitives::call_flag(op, previous, input[0], static_cast<int>(thread) * count, 0));
    }
    for (int i = 1; i < count; ++i) {
      flags[i] = static_cast<Flag>(
          ::gpulab::primitives::call_flag(op, input[i - 1], input[i], static_cast<int>(thread) * count + i, 0));
    }
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void tails(Flag (&flags)[count], T (&input)[count], Op& op, const T* behind) {
    unsigned int thread = Group::index();
    for (int i = 0; i + 1 < count; ++i) {
      flags[i] = static_cast<Flag>(
          ::gpulab::primitives::call_flag(op, input[i], input[i + 1], static_cast<int>(thread) * count + i + 1, 0));
    }
    bool last = thread + 1 == Group::threads;
    if (last && behind == nullptr) {
      flags[count - 1] = Flag(1);
    } else {
      T next = last ? *behind : storage_[Group::threads + thread + 1];
      flags[count - 1] = static_cast<Flag>(
          ::gpulab::primitives::call_flag(op, input[count - 1], next, static_cast<int>(thread + 1) * count, 0));
    }
  }

 public:
  __GPULAB_COLLECTIVE__(Base)
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagHeads(Flag (&flags)[count], T (&input)[count], Op op) {
    share(input);
    heads(flags, input, op, nullptr);
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagHeads(Flag (&flags)[count], T (&input)[count], Op op, T tile_predecessor) {
    share(input);
    heads(flags, input, op, &tile_predecessor);
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagTails(Flag (&flags)[count], T (&input)[count], Op op) {
    share(input);
    tails(flags, input, op, nullptr);
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagTails(Flag (&flags)[count], T (&input)[count], Op op, T tile_successor) {
    share(input);
    tails(flags, input, op, &tile_successor);
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagHeadsAndTails(Flag (&head)[count], Flag (&tail)[count], T (&input)[count],
                                                    Op op) {
    share(input);
    heads(head, input, op, nullptr);
    tails(tail, input, op, nullptr);
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagHeadsAndTails(Flag (&head)[count], Flag (&tail)[count], T tile_successor,
                                                    T (&input)[count], Op op) {
    share(input);
    heads(head, input, op, nullptr);
    tails(tail, input, op, &tile_successor);
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagHeadsAndTails(Flag (&head)[count], T tile_predecessor, Flag (&tail)[count],
                                                    T (&input)[count], Op op) {
    share(input);
    heads(head, input, op, &tile_predecessor);
    tails(tail, input, op, nullptr);
  }
  template <int count, typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ void FlagHeadsAndTails(Flag (&head)[count], T tile_predecessor, Flag (&tail)[count],
                                                    T tile_successor, T (&input)[count], Op op) {
    share(input);
    heads(head, input, op, &tile_predecessor);
    tails(tail, input, op, &tile_successor);
  }
};
}  // namespace hipcub
