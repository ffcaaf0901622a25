// rocprim::block_scan: scans over the threads of a block, of one item or several (blocked).
#pragma once
#include "../../hipcub/block/block_scan.hpp"
#include "../collective.hpp"

namespace rocprim {
// All of them give the same results.
enum class block_scan_algorithm { using_warp_scan, reduce_then_scan, default_algorithm = using_warp_scan };

template <typename T, unsigned int DimX, block_scan_algorithm Algorithm = block_scan_algorithm::default_algorithm,
          unsigned int DimY = 1, unsigned int DimZ = 1>
class block_scan {
  using Scan = ::hipcub::BlockScan<T, static_cast<int>(DimX), ::hipcub::BLOCK_SCAN_WARP_SCANS, static_cast<int>(DimY),
                                   static_cast<int>(DimZ)>;

 public:
  using storage_type = typename Scan::TempStorage;
  // `In` and `Out` are T, or arrays of T.
  template <typename In, typename Out, typename Op = plus<T>>
  __GPULAB_CALL__ inclusive_scan(In&& input, Out& output, storage_type& storage, Op op = Op()) {
    Scan(storage).InclusiveScan(input, output, op);
  }
  template <typename In, typename Out, typename Op = plus<T>>
  __GPULAB_CALL__ inclusive_scan(In&& input, Out& output, Op op = Op()) {
    Scan().InclusiveScan(input, output, op);
  }
  template <typename In, typename Out, typename Op = plus<T>>
  __GPULAB_CALL__ inclusive_scan(In&& input, Out& output, T& reduction, storage_type& storage, Op op = Op()) {
    Scan(storage).InclusiveScan(input, output, op, reduction);
  }
  template <typename Callback, typename In, typename Out, typename Op>
  __GPULAB_CALL__ inclusive_scan(In&& input, Out& output, storage_type& storage, Callback& prefix_callback_op, Op op) {
    Scan(storage).InclusiveScan(input, output, op, prefix_callback_op);
  }
  template <typename In, typename Out, typename Op = plus<T>>
  __GPULAB_CALL__ exclusive_scan(In&& input, Out& output, T init, storage_type& storage, Op op = Op()) {
    Scan(storage).ExclusiveScan(input, output, init, op);
  }
  template <typename In, typename Out, typename Op = plus<T>>
  __GPULAB_CALL__ exclusive_scan(In&& input, Out& output, T init, Op op = Op()) {
    Scan().ExclusiveScan(input, output, init, op);
  }
  // The reduction is that of the inputs alone.
  template <typename In, typename Out, typename Op = plus<T>>
  __GPULAB_CALL__ exclusive_scan(In&& input, Out& output, T init, T& reduction, storage_type& storage, Op op = Op()) {
    Scan(storage).ExclusiveScan(input, output, init, op, reduction);
  }
  template <typename Callback, typename In, typename Out, typename Op>
  __GPULAB_CALL__ exclusive_scan(In&& input, Out& output, storage_type& storage, Callback& prefix_callback_op, Op op) {
    Scan(storage).ExclusiveScan(input, output, op, prefix_callback_op);
  }
};
}  // namespace rocprim
