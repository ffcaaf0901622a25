// hipcub::BlockShuffle: items of neighbouring threads.
#pragma once
#include "../collective.hpp"

namespace hipcub {
template <typename T, int DimX, int DimY = 1, int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockShuffle : public collective::WithStorage<BlockShuffle<T, DimX, DimY, DimZ, ARCH>,
                                                    ::gpulab::primitives::Items<T, DimX * DimY * DimZ>> {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<BlockShuffle, ::gpulab::primitives::Items<T, DimX * DimY * DimZ>>;

 public:
  __GPULAB_COLLECTIVE__(Base)
  // The input of the thread `distance` further on; where there is none, the output stays.
  __GPULAB_COLLECTIVE_CALL__ void Offset(T input, T& output, int distance = 1) {
    int source = static_cast<int>(Group::index()) + distance;
    storage_[Group::index()] = input;
    Group::sync();
    if (source >= 0 && source < static_cast<int>(Group::threads)) output = storage_[static_cast<unsigned int>(source)];
  }
  // The same, going on with thread 0 after the last one.
  __GPULAB_COLLECTIVE_CALL__ void Rotate(T input, T& output, unsigned int distance = 1) {
    storage_[Group::index()] = input;
    Group::sync();
    output = storage_[(Group::index() + distance) % Group::threads];
  }
  // All items one place up: previous[i] is the item before input[i]; the first thread's first stays.
  template <int count>
  __GPULAB_COLLECTIVE_CALL__ void Up(T (&input)[count], T (&previous)[count]) {
    T before = ::gpulab::primitives::item_before<Group>(storage_, input[count - 1]);
    for (int i = count - 1; i > 0; --i) previous[i] = input[i - 1];
    if (Group::index() != 0) previous[0] = before;
  }
  template <int count>
  __GPULAB_COLLECTIVE_CALL__ void Up(T (&input)[count], T (&previous)[count], T& block_suffix) {
    T before = ::gpulab::primitives::item_before<Group>(storage_, input[count - 1]);
    block_suffix = storage_[Group::threads - 1];
    for (int i = count - 1; i > 0; --i) previous[i] = input[i - 1];
    if (Group::index() != 0) previous[0] = before;
  }
  // One place down: next[i] is the item behind input[i]; the last thread's last stays.
  template <int count>
  __GPULAB_COLLECTIVE_CALL__ void Down(T (&input)[count], T (&next)[count]) {
    T after = ::gpulab::primitives::item_after<Group>(storage_, input[0]);
    for (int i = 0; i + 1 < count; ++i) next[i] = input[i + 1];
    if (Group::index() + 1 != Group::threads) next[count - 1] = after;
  }
  template <int count>
  __GPULAB_COLLECTIVE_CALL__ void Down(T (&input)[count], T (&next)[count], T& block_prefix) {
    T after = ::gpulab::primitives::item_after<Group>(storage_, input[0]);
    block_prefix = storage_[0];
    for (int i = 0; i + 1 < count; ++i) next[i] = input[i + 1];
    if (Group::index() + 1 != Group::threads) next[count - 1] = after;
  }
};
}  // namespace hipcub
