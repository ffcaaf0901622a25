// hipcub::BlockScan: scans over the threads of a block, of one item or several (blocked).
#pragma once
#include "../collective.hpp"

namespace hipcub {
// All of them give the same results.
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <typename T, int DimX, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING, int DimY = 1, int DimZ = 1,
          int ARCH = HIPCUB_ARCH>
class BlockScan : public collective::WithStorage<
                      BlockScan<T, DimX, ALGORITHM, DimY, DimZ, ARCH>,
                      ::gpulab::primitives::BlockTotals<T, ::gpulab::primitives::Block<DimX, DimY, DimZ>>> {
  using Group = ::gpulab::primitives::Block<DimX, DimY, DimZ>;
  using Base = collective::WithStorage<BlockScan, ::gpulab::primitives::BlockTotals<T, Group>>;

  // What stands before the block's first item: nothing, a value, or what a function makes of the block's total.
  struct None {};
  struct Value {
    const T& value;
  };
  template <typename Function>
  struct Called {
    Function& function;
  };
  __GPULAB_DEVICE_MEMBER__ bool prefix(T&, const T&, None) { return false; }
  __GPULAB_DEVICE_MEMBER__ bool prefix(T& first, const T&, Value from) {
    first = from.value;
    return true;
  }
  template <typename Function>
  __GPULAB_COLLECTIVE_CALL__ bool prefix(T& first, const T& all, Called<Function> from) {
    first = ::gpulab::primitives::prefix_of<Group>(storage_, all, from.function);
    return true;
  }
  // With `exclusive` out[i] is the op of what comes before item i, else also of the item.
  template <bool exclusive, int count, typename Op, typename First>
  __GPULAB_COLLECTIVE_CALL__ void scan(const T* in, T* out, Op& op, T& all, First from) {
    T total = in[0];
#pragma unroll
    for (int i = 1; i < count; ++i) total = op(total, in[i]);
    ::gpulab::primitives::Room<T> before, first;
    __builtin_memset(&first, 0, sizeof(T));
    ::gpulab::primitives::scan_block(storage_, total, before.get(), all, op);
    bool has = Group::index() != 0;
    if (prefix(first.get(), all, from)) {
      before.get() = has ? op(first.get(), before.get()) : first.get();
      has = true;
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
      T item = in[i];
      T upto = i > 0 || has ? static_cast<T>(op(before.get(), item)) : item;
      if constexpr (exclusive) {
        if (i > 0 || has) out[i] = before.get();
      } else {
        out[i] = upto;
      }
      before.get() = upto;
    }
  }

 public:
  __GPULAB_COLLECTIVE__(Base)
  // One item, then several; `aggregate` is the op of all inputs.
#define __GPULAB_SCANS__(kind, exclusive)                                                                     \
  template <typename Op>                                                                                      \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T in, T& out, Op op) {                                           \
    T all;                                                                                                    \
    scan<exclusive, 1>(&in, &out, op, all, None{});                                                           \
  }                                                                                                           \
  template <typename Op>                                                                                      \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T in, T& out, Op op, T& aggregate) {                             \
    scan<exclusive, 1>(&in, &out, op, aggregate, None{});                                                     \
  }                                                                                                           \
  template <typename Op>                                                                                      \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T in, T& out, T initial, Op op) {                                \
    T all;                                                                                                    \
    scan<exclusive, 1>(&in, &out, op, all, Value{initial});                                                   \
  }                                                                                                           \
  template <typename Op>                                                                                      \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T in, T& out, T initial, Op op, T& aggregate) {                  \
    scan<exclusive, 1>(&in, &out, op, aggregate, Value{initial});                                             \
  }                                                                                                           \
  template <typename Op, typename Callback,                                                                   \
            typename = typename ::gpulab::enable_if<__is_class(Callback) && !__is_same(Callback, T)>::type>   \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T in, T& out, Op op, Callback& callback) {                       \
    T all;                                                                                                    \
    scan<exclusive, 1>(&in, &out, op, all, Called<Callback>{callback});                                       \
  }                                                                                                           \
  template <int count, typename Op>                                                                           \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T(&in)[count], T(&out)[count], Op op) {                          \
    T all;                                                                                                    \
    scan<exclusive, count>(in, out, op, all, None{});                                                         \
  }                                                                                                           \
  template <int count, typename Op>                                                                           \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T(&in)[count], T(&out)[count], Op op, T& aggregate) {            \
    scan<exclusive, count>(in, out, op, aggregate, None{});                                                   \
  }                                                                                                           \
  template <int count, typename Op>                                                                           \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T(&in)[count], T(&out)[count], T initial, Op op) {               \
    T all;                                                                                                    \
    scan<exclusive, count>(in, out, op, all, Value{initial});                                                 \
  }                                                                                                           \
  template <int count, typename Op>                                                                           \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T(&in)[count], T(&out)[count], T initial, Op op, T& aggregate) { \
    scan<exclusive, count>(in, out, op, aggregate, Value{initial});                                           \
  }                                                                                                           \
  template <int count, typename Op, typename Callback,                                                        \
            typename = typename ::gpulab::enable_if<__is_class(Callback) && !__is_same(Callback, T)>::type>   \
  __GPULAB_COLLECTIVE_CALL__ void kind##Scan(T(&in)[count], T(&out)[count], Op op, Callback& callback) {      \
    T all;                                                                                                    \
    scan<exclusive, count>(in, out, op, all, Called<Callback>{callback});                                     \
  }
  __GPULAB_SCANS__(Exclusive, true)
  __GPULAB_SCANS__(Inclusive, false)
#undef __GPULAB_SCANS__

#define __GPULAB_SUMS__(kind, ...)                                                                             \
  __GPULAB_COLLECTIVE_CALL__ void kind##Sum(T in, T& out) { kind##Scan(in, out, __VA_ARGS__::hipcub::Sum()); } \
  __GPULAB_COLLECTIVE_CALL__ void kind##Sum(T in, T& out, T& aggregate) {                                      \
    kind##Scan(in, out, __VA_ARGS__::hipcub::Sum(), aggregate);                                                \
  }                                                                                                            \
  template <typename Callback,                                                                                 \
            typename = typename ::gpulab::enable_if<__is_class(Callback) && !__is_same(Callback, T)>::type>    \
  __GPULAB_COLLECTIVE_CALL__ void kind##Sum(T in, T& out, Callback& callback) {                                \
    kind##Scan(in, out, ::hipcub::Sum(), callback);                                                            \
  }                                                                                                            \
  template <int count>                                                                                         \
  __GPULAB_COLLECTIVE_CALL__ void kind##Sum(T(&in)[count], T(&out)[count]) {                                   \
    kind##Scan(in, out, __VA_ARGS__::hipcub::Sum());                                                           \
  }                                                                                                            \
  template <int count>                                                                                         \
  __GPULAB_COLLECTIVE_CALL__ void kind##Sum(T(&in)[count], T(&out)[count], T& aggregate) {                     \
    kind##Scan(in, out, __VA_ARGS__::hipcub::Sum(), aggregate);                                                \
  }                                                                                                            \
  template <int count, typename Callback,                                                                      \
            typename = typename ::gpulab::enable_if<__is_class(Callback) && !__is_same(Callback, T)>::type>    \
  __GPULAB_COLLECTIVE_CALL__ void kind##Sum(T(&in)[count], T(&out)[count], Callback& callback) {               \
    kind##Scan(in, out, ::hipcub::Sum(), callback);                                                            \
  }
  __GPULAB_SUMS__(Exclusive, T(0), )
  __GPULAB_SUMS__(Inclusive, )
#undef __GPULAB_SUMS__
};
}  // namespace hipcub
