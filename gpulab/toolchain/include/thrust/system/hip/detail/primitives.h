// Reductions, scans and compactions of the device for Thrust's algorithms, by way of gpulab/primitives. Numbers come
// from a function of the index, and results go to functions.
#pragma once
#include "../../../../gpulab/primitives/scan.h"
#include "../../../functional.h"
#include "launch.h"

namespace thrust::system::hip::detail {
namespace core = gpulab::primitives;

/// A call of gpulab/primitives, once for the size of its temporary memory and once with it.
template <typename Call>
__host__ void with_storage(const stream_policy& policy, Call call) {
  size_t bytes = 0;
  thrust::detail::check(call(nullptr, bytes), "an algorithm on the device");
  temporary<char> storage(policy, bytes);
  thrust::detail::check(call(storage.get(), bytes), "the launch of an algorithm's kernel");
}

/// Operations whose operands may change places; of others the order is kept.
template <typename Operation>
inline constexpr bool is_commutative = false;
#define THRUST_DETAIL_COMMUTES(name) \
  template <typename T>              \
  inline constexpr bool is_commutative<name<T>> = std::is_arithmetic_v<T>;
THRUST_DETAIL_COMMUTES(thrust::plus)
THRUST_DETAIL_COMMUTES(thrust::multiplies)
THRUST_DETAIL_COMMUTES(thrust::maximum)
THRUST_DETAIL_COMMUTES(thrust::minimum)
THRUST_DETAIL_COMMUTES(thrust::bit_and)
THRUST_DETAIL_COMMUTES(thrust::bit_or)
THRUST_DETAIL_COMMUTES(thrust::bit_xor)
THRUST_DETAIL_COMMUTES(thrust::logical_and)
THRUST_DETAIL_COMMUTES(thrust::logical_or)
THRUST_DETAIL_COMMUTES(std::plus)
THRUST_DETAIL_COMMUTES(std::multiplies)
#undef THRUST_DETAIL_COMMUTES

/// Each part's reduction, its items in their order.
template <typename T, typename Load, typename Operation>
__global__ __launch_bounds__(core::block_threads) void reduce_in_order(core::Parts parts, Load load,
                                                                       Operation operation, T* totals) {
  core::Part part;
  if (!core::next_part(parts, part)) return;
  core::Room<T> sum;
  __builtin_memset(&sum, 0, sizeof(T));
  bool has = false;
  core::NoStore none;
  core::scan_range<false>(part.begin, part.items, load, operation, none, has, sum);
  if (core::lane_index() == 0) totals[part.number] = sum.get();
}

/// load(0), load(1) ... load(count - 1) joined by the operation, on the host. count is not 0.
template <typename T, typename Load, typename Operation>
__host__ T reduce(const stream_policy& policy, size_t count, Load load, Operation operation) {
  temporary<T> found(policy, 1);
  if constexpr (is_commutative<Operation>) {
    // The first element stands for the initial value, which there is none of.
    with_storage(policy, [&](void* memory, size_t& bytes) {
      return core::reduce<T>(memory, bytes, load, core::Storing<T*>{found.get()}, count, operation,
                             core::IfEmpty<T>{T()}, policy.stream);
    });
  } else {
    core::Parts parts(count);
    temporary<T> totals(policy, parts.count);
    reduce_in_order<T><<<parts.blocks(), core::block_threads, 0, policy.stream>>>(parts, load, operation, totals.get());
    thrust::detail::check(core::finish(), "the launch of a reduction");
    if (parts.count == 1) return totals.read();
    core::Parts one(parts.count);  // most_parts values or fewer: one part
    reduce_in_order<T><<<1, core::block_threads, 0, policy.stream>>>(one, core::Loading<const T*>{totals.get()},
                                                                     operation, found.get());
    thrust::detail::check(core::finish(), "the launch of a reduction");
  }
  return found.read();
}

/// Calls store(i, has_before, before, sum) for each i below count: `before` is load(0) ... load(i - 1) joined, where
/// there is one, and `sum` that with load(i). The order of the operands is kept.
template <typename T, typename Load, typename Operation, typename Store>
__host__ void scan(const stream_policy& policy, size_t count, Load load, Operation operation, Store store) {
  with_storage(policy, [&](void* memory, size_t& bytes) {
    return core::scan_with<T>(memory, bytes, load, store, count, operation, core::Nothing{}, policy.stream);
  });
}

/// Calls emit(i, place) for those i below count that keep(i) is true of, `place` being how many of them come before,
/// and leave(i, place) for the others, whose place is counted likewise; returns how many are kept.
template <typename Keep, typename Emit, typename Leave>
__host__ size_t compact(const stream_policy& policy, size_t count, Keep keep, Emit emit, Leave leave) {
  using number = unsigned long long;
  if (count == 0) return 0;
  temporary<number> total(policy, 1);
  number* found = total.get();
  scan<number>(
      policy, count, [keep] __device__(size_t i) mutable { return static_cast<number>(keep(i) ? 1 : 0); },
      thrust::plus<number>(), [=] __device__(size_t i, bool has_before, number before, number sum) mutable {
        if (!has_before) before = 0;
        if (sum != before)
          emit(i, static_cast<size_t>(before));
        else
          leave(i, i - static_cast<size_t>(before));
        if (i + 1 == count) *found = sum;
      });
  return static_cast<size_t>(total.read());
}
struct leave_out {
  __host__ __device__ void operator()(size_t, size_t) const {}
};
}  // namespace thrust::system::hip::detail
