// hipcub::BlockReduce: one result of a block, in its thread 0.
#pragma once
#include "../collective.hpp"

namespace hipcub {
// All of them keep the order of the items and give the same results.
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };

template <typename T, int DimX, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int DimY = 1,
          int DimZ = 1, int ARCH = HIPCUB_ARCH>
class BlockReduce : public collective::WithStorage<
                        BlockReduce<T, DimX, ALGORITHM, DimY, DimZ, ARCH>,
                        ::gpulab::primitives::BlockTotals<T, ::gpulab::primitives::Block<DimX, DimY, DimZ>>> {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<BlockReduce, ::gpulab::primitives::BlockTotals<T, Group>>;

 public:
  __GPULAB_COLLECTIVE__(Base)
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ T Reduce(T input, Op op) {
    return ::gpulab::primitives::reduce_block(storage_, input, Group::threads, op);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ T Reduce(const T& input, Op op, int valid) {
    return ::gpulab::primitives::reduce_block(storage_, input, static_cast<unsigned int>(valid), op);
  }
  template <int count, typename Op>
  __GPULAB_COLLECTIVE_CALL__ T Reduce(T (&inputs)[count], Op op) {
    return Reduce(::gpulab::primitives::reduce_items(inputs, op), op);
  }
  __GPULAB_COLLECTIVE_CALL__ T Sum(T input) { return Reduce(input, ::hipcub::Sum()); }
  __GPULAB_COLLECTIVE_CALL__ T Sum(const T& input, int valid) { return Reduce(input, ::hipcub::Sum(), valid); }
  template <int count>
  __GPULAB_COLLECTIVE_CALL__ T Sum(T (&inputs)[count]) {
    return Reduce(inputs, ::hipcub::Sum());
  }
};
}  // namespace hipcub
