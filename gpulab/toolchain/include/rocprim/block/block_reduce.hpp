// rocprim::block_reduce: one result of a block, in its thread 0.
#pragma once
#include "../collective.hpp"

namespace rocprim {
// All of them keep the order of the items and give the same results.
enum class block_reduce_algorithm {
  using_warp_reduce,
  raking_reduce,
  raking_reduce_commutative_only,
  default_algorithm = using_warp_reduce
};
template <typename T, unsigned int DimX, block_reduce_algorithm Algorithm = block_reduce_algorithm::default_algorithm,
          unsigned int DimY = 1, unsigned int DimZ = 1>
class block_reduce {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;

 public:
  using storage_type = ::gpulab::primitives::BlockTotals<T, Group>;
  template <typename Op = plus<T>>
  __GPULAB_CALL__ reduce(T input, T& output, storage_type& storage, Op op = Op()) {
    output = ::gpulab::primitives::reduce_block(storage, input, Group::threads, op);
  }
  template <typename Op = plus<T>>
  __GPULAB_CALL__ reduce(T input, T& output, Op op = Op()) {
    reduce(input, output, own_storage(), op);
  }
  template <unsigned int count, typename Op = plus<T>>
  __GPULAB_CALL__ reduce(T (&input)[count], T& output, storage_type& storage, Op op = Op()) {
    reduce(::gpulab::primitives::reduce_items(input, op), output, storage, op);
  }
  template <unsigned int count, typename Op = plus<T>>
  __GPULAB_CALL__ reduce(T (&input)[count], T& output, Op op = Op()) {
    reduce(input, output, own_storage(), op);
  }
  template <typename Op = plus<T>>
  __GPULAB_CALL__ reduce(const T& input, T& output, unsigned int valid_items, storage_type& storage, Op op = Op()) {
    output = ::gpulab::primitives::reduce_block(storage, input, valid_items, op);
  }
  template <typename Op = plus<T>>
  __GPULAB_CALL__ reduce(const T& input, T& output, unsigned int valid_items, Op op = Op()) {
    reduce(input, output, valid_items, own_storage(), op);
  }

 private:
  __GPULAB_OWN_STORAGE__
};
}  // namespace rocprim
