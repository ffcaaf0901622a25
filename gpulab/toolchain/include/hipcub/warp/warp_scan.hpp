// hipcub::WarpScan: scans over the lanes of a logical warp.
#pragma once
#include "../collective.hpp"

namespace hipcub {
template <typename T, int LOGICAL_WARP_THREADS = HIPCUB_DEVICE_WARP_THREADS, int ARCH = HIPCUB_ARCH>
class WarpScan {
  static constexpr unsigned int size = LOGICAL_WARP_THREADS;
  using Group = ::gpulab::primitives::Warp<size>;

 public:
  using TempStorage = collective::Empty;
  __GPULAB_DEVICE_MEMBER__ explicit WarpScan(TempStorage&) {}

  __GPULAB_COLLECTIVE_CALL__ void InclusiveSum(T input, T& output) { InclusiveScan(input, output, ::hipcub::Sum()); }
  __GPULAB_COLLECTIVE_CALL__ void InclusiveSum(T input, T& output, T& aggregate) {
    InclusiveScan(input, output, ::hipcub::Sum(), aggregate);
  }
  __GPULAB_COLLECTIVE_CALL__ void ExclusiveSum(T input, T& output) {
    ExclusiveScan(input, output, T(0), ::hipcub::Sum());
  }
  __GPULAB_COLLECTIVE_CALL__ void ExclusiveSum(T input, T& output, T& aggregate) {
    ExclusiveScan(input, output, T(0), ::hipcub::Sum(), aggregate);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void InclusiveScan(T input, T& output, Op op) {
    T aggregate;
    InclusiveScan(input, output, op, aggregate);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void InclusiveScan(T input, T& output, Op op, T& aggregate) {
    T before;
    ::gpulab::primitives::scan_warp<size>(input, before, aggregate, op);
    output = input;
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void InclusiveScan(T input, T& output, T initial, Op op) {
    T aggregate;
    InclusiveScan(input, output, initial, op, aggregate);
  }
  // The aggregate is that of the inputs alone.
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void InclusiveScan(T input, T& output, T initial, Op op, T& aggregate) {
    InclusiveScan(input, output, op, aggregate);
    output = op(initial, output);
  }
  // Without an initial value, lane 0 has no result.
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void ExclusiveScan(T input, T& output, Op op) {
    T aggregate;
    ExclusiveScan(input, output, op, aggregate);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void ExclusiveScan(T input, T& output, Op op, T& aggregate) {
    T inclusive;
    scan(input, inclusive, output, op, aggregate);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void ExclusiveScan(T input, T& output, T initial, Op op) {
    T aggregate;
    ExclusiveScan(input, output, initial, op, aggregate);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void ExclusiveScan(T input, T& output, T initial, Op op, T& aggregate) {
    T inclusive;
    scan(input, inclusive, output, op, aggregate);
    output = Group::index() == 0 ? initial : static_cast<T>(op(initial, output));
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void Scan(T input, T& inclusive, T& exclusive, Op op) {
    T aggregate;
    scan(input, inclusive, exclusive, op, aggregate);
  }
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void Scan(T input, T& inclusive, T& exclusive, T initial, Op op) {
    T aggregate;
    scan(input, inclusive, exclusive, op, aggregate);
    inclusive = op(initial, inclusive);
    exclusive = Group::index() == 0 ? initial : static_cast<T>(op(initial, exclusive));
  }
  __GPULAB_COLLECTIVE_CALL__ T Broadcast(T input, unsigned int source_lane) {
    return ::gpulab::primitives::from_lane(input, ::gpulab::primitives::lane_index() - Group::index() + source_lane);
  }

 private:
  template <typename Op>
  __GPULAB_COLLECTIVE_CALL__ void scan(T input, T& inclusive, T& exclusive, Op& op, T& aggregate) {
    ::gpulab::primitives::scan_warp<size>(input, exclusive, aggregate, op);
    inclusive = input;
  }
};
}  // namespace hipcub
