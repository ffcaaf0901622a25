// rocprim::warp_reduce: one result of a logical warp, in its lane 0, or in all lanes.
#pragma once
#include "../functional.hpp"
#include "../intrinsics.hpp"
#include "../types.hpp"

namespace rocprim {
template <typename T, unsigned int WarpSize = ::gpulab::primitives::wave_size, bool UseAllReduce = false>
class warp_reduce {
  using Group = ::gpulab::primitives::Warp<WarpSize>;
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void to_all(T& output) {
    if constexpr (UseAllReduce) output = ::gpulab::primitives::from_lane(output, lane_id() - Group::index());
  }

 public:
  using storage_type = empty_type;
  template <typename Op = plus<T>>
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void reduce(T input, T& output, storage_type&, Op op = Op()) {
    ::gpulab::primitives::reduce_lanes<WarpSize>(input, Group::index(), WarpSize, op);
    output = input;
    to_all(output);
  }
  template <typename Op = plus<T>>
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void reduce(const T& input, T& output, int valid_items,
                                                                   storage_type&, Op op = Op()) {
    T result = input;
    ::gpulab::primitives::reduce_lanes<WarpSize>(result, Group::index(), static_cast<unsigned int>(valid_items), op);
    output = result;
    to_all(output);
  }
  template <typename Flag, typename Op = plus<T>>
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void head_segmented_reduce(T input, T& output, Flag flag,
                                                                                  storage_type&, Op op = Op()) {
    output = ::gpulab::primitives::reduce_runs<WarpSize, true>(input, flag, op);
  }
  template <typename Flag, typename Op = plus<T>>
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void tail_segmented_reduce(T input, T& output, Flag flag,
                                                                                  storage_type&, Op op = Op()) {
    output = ::gpulab::primitives::reduce_runs<WarpSize, false>(input, flag, op);
  }
};
}  // namespace rocprim
