// rocprim::warp_scan: scans over the lanes of a logical warp.
#pragma once
#include "../collective.hpp"

namespace rocprim {
template <typename T, unsigned int WarpSize = ::gpulab::primitives::wave_size>
class warp_scan {
  using Group = ::gpulab::primitives::Warp<WarpSize>;

 public:
  using storage_type = empty_type;
  template <typename Op = plus<T>>
  __GPULAB_CALL__ inclusive_scan(T input, T& output, storage_type& storage, Op op = Op()) {
    T all;
    inclusive_scan(input, output, all, storage, op);
  }
  template <typename Op = plus<T>>
  __GPULAB_CALL__ inclusive_scan(T input, T& output, T& reduction, storage_type&, Op op = Op()) {
    T before;
    ::gpulab::primitives::scan_warp<WarpSize>(input, before, reduction, op);
    output = input;
  }
  template <typename Op = plus<T>>
  __GPULAB_CALL__ exclusive_scan(T input, T& output, T init, storage_type& storage, Op op = Op()) {
    T all;
    exclusive_scan(input, output, init, all, storage, op);
  }
  // The reduction is that of the inputs alone.
  template <typename Op = plus<T>>
  __GPULAB_CALL__ exclusive_scan(T input, T& output, T init, T& reduction, storage_type& storage, Op op = Op()) {
    T upto;
    scan(input, upto, output, init, reduction, storage, op);
  }
  template <typename Op = plus<T>>
  __GPULAB_CALL__ scan(T input, T& inclusive_output, T& exclusive_output, T init, storage_type& storage, Op op = Op()) {
    T all;
    scan(input, inclusive_output, exclusive_output, init, all, storage, op);
    inclusive_output = op(init, inclusive_output);
  }
  __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) T broadcast(T input, unsigned int source_lane, storage_type&) {
    return ::gpulab::primitives::from_lane(input, lane_id() - Group::index() + source_lane);
  }

 private:
  template <typename Op>
  __GPULAB_CALL__ scan(T input, T& upto, T& before, T init, T& reduction, storage_type&, Op op) {
    T found;
    ::gpulab::primitives::scan_warp<WarpSize>(input, found, reduction, op);
    upto = input;
    before = Group::index() == 0 ? init : static_cast<T>(op(init, found));
  }
};
}  // namespace rocprim
