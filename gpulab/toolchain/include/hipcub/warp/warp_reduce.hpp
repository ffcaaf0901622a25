// hipcub::WarpReduce: one result of a logical warp, in its lane 0.
#pragma once
#include "../collective.hpp"

namespace hipcub {
template <typename T, int LOGICAL_WARP_THREADS = HIPCUB_DEVICE_WARP_THREADS, int ARCH = HIPCUB_ARCH>
class WarpReduce {
  static constexpr unsigned int size = LOGICAL_WARP_THREADS;
  using Group = ::gpulab::primitives::Warp<size>;

 public:
  using TempStorage = collective::Empty;
  __GPULAB_DEVICE_MEMBER__ explicit WarpReduce(TempStorage&) {}

  __GPULAB_COLLECTIVE_CALL__ T Sum(T input) { return Reduce(input, ::hipcub::Sum()); }
  __GPULAB_COLLECTIVE_CALL__ T Sum(const T& input, int valid_items) {
    return Reduce(input, ::hipcub::Sum(), valid_items);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ T Reduce(T input, Op op) {
    ::gpulab::primitives::reduce_lanes<size>(input, Group::index(), size, op);
    return input;
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ T Reduce(const T& input, Op op, int valid_items) {
    T result = input;
    ::gpulab::primitives::reduce_lanes<size>(result, Group::index(), static_cast<unsigned int>(valid_items), op);
    return result;
  }
  // Runs of lanes, each from a head on, or up to a tail: their results are in their first lanes.
  template <typename Flag>
  __GPULAB_COLLECTIVE_CALL__ T HeadSegmentedSum(T input, Flag head) {
    return HeadSegmentedReduce(input, head, ::hipcub::Sum());
  }
  template <typename Flag>
  __GPULAB_COLLECTIVE_CALL__ T TailSegmentedSum(T input, Flag tail) {
    return TailSegmentedReduce(input, tail, ::hipcub::Sum());
  }
  template <typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ T HeadSegmentedReduce(T input, Flag head, Op op) {
    return ::gpulab::primitives::reduce_runs<size, true>(input, head, op);
  }
  template <typename Flag, typename Op>
  __GPULAB_COLLECTIVE_CALL__ T TailSegmentedReduce(T input, Flag tail, Op op) {
    return ::gpulab::primitives::reduce_runs<size, false>(input, tail, op);
  }
};
}  // namespace hipcub
