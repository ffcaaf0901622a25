// Runs of equal neighbours: sums by key, run lengths.
#pragma once
#include "scan.h"

namespace gpulab {
namespace primitives {

// How many runs have begun, and the op of what the last of them has so far.
template <typename T>
struct Run {
  uint64_t count;
  T value;
};
template <typename Op>
struct RunOp {
  Op op;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ Run<T> operator()(const Run<T>& a, const Run<T>& b) {
    if (b.count != 0) return Run<T>{a.count + b.count, b.value};
    return Run<T>{a.count, static_cast<T>(op(a.value, b.value))};
  }
};
template <typename T, typename Keys, typename Values, typename Equality>
struct LoadingRun {
  Heads<Keys, Equality> heads;
  Values values;
  __GPULAB_DEVICE_MEMBER__ Run<T> operator()(uint64_t i) {
    return Run<T>{heads(i) ? uint64_t(1) : uint64_t(0), static_cast<T>(at(values, i))};
  }
};
template <typename Keys, typename Equality, typename Unique, typename Aggregates, typename Runs>
struct StoringRun {
  Heads<Keys, Equality> heads;
  Unique unique;
  Aggregates aggregates;
  Runs runs;
  uint64_t items;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool has, const Run<T>& before, const Run<T>& upto) {
    uint64_t run = upto.count - 1;
    if (!has || before.count != upto.count) at(unique, run) = at(heads.keys, i);
    bool last = i + 1 == items;
    if (last || heads(i + 1)) at(aggregates, run) = upto.value;
    if (last) *runs = static_cast<element_or<Runs, uint64_t>>(upto.count);
  }
};
template <typename Runs>
struct StoreZero {
  Runs runs;
  unsigned int count;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t) {
    for (unsigned int i = 0; i < count; ++i) at(runs, i) = element_or<Runs, unsigned int>(0);
  }
};
// What a call returns for no items: zero is stored as the number of results.
template <typename Runs>
hipError_t store_zero(void* temporary, size_t& bytes, Runs runs, hipStream_t stream, unsigned int count = 1) {
  hipError_t result;
  if (!Storage(temporary, bytes).fits(result)) return result;
  return for_each_index(1, StoreZero<Runs>{runs, count}, stream);
}

template <typename T, typename Keys, typename Unique, typename Values, typename Aggregates, typename Runs, typename Op,
          typename Equality>
hipError_t reduce_by_key(void* temporary, size_t& bytes, Keys keys, Unique unique, Values values, Aggregates aggregates,
                         Runs runs, Op op, Equality equality, uint64_t items, hipStream_t stream) {
  if (items == 0) return store_zero(temporary, bytes, runs, stream);
  Heads<Keys, Equality> heads{keys, equality};
  return scan_with<Run<T>>(temporary, bytes, LoadingRun<T, Keys, Values, Equality>{heads, values},
                           StoringRun<Keys, Equality, Unique, Aggregates, Runs>{heads, unique, aggregates, runs, items},
                           items, RunOp<Op>{op}, Nothing{}, stream);
}

// Runs of two and more: how many have begun, and where the last run of any length begins.
struct LongRun {
  uint64_t count;
  uint64_t start;
};
struct LongRunOp {
  __GPULAB_DEVICE_MEMBER__ LongRun operator()(const LongRun& a, const LongRun& b) const {
    return LongRun{a.count + b.count, b.start != 0 ? b.start : a.start};
  }
};
template <typename Keys, typename Equality>
struct LoadingLongRun {
  Heads<Keys, Equality> heads;
  uint64_t items;
  __GPULAB_DEVICE_MEMBER__ LongRun operator()(uint64_t i) {
    bool head = heads(i), many = head && i + 1 < items && !heads(i + 1);
    return LongRun{many ? uint64_t(1) : uint64_t(0), head ? i + 1 : uint64_t(0)};
  }
};
template <typename Keys, typename Equality, typename Offsets, typename Lengths, typename Runs>
struct StoringLongRun {
  Heads<Keys, Equality> heads;
  Offsets offsets;
  Lengths lengths;
  Runs runs;
  uint64_t items;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool, const T&, const T& upto) {
    bool last = i + 1 == items;
    uint64_t start = upto.start - 1;
    if (start != i && (last || heads(i + 1))) {
      at(offsets, upto.count - 1) = static_cast<element_or<Offsets, uint64_t>>(start);
      at(lengths, upto.count - 1) = static_cast<element_or<Lengths, uint64_t>>(i + 1 - start);
    }
    if (last) *runs = static_cast<element_or<Runs, uint64_t>>(upto.count);
  }
};
template <typename Keys, typename Offsets, typename Lengths, typename Runs, typename Equality>
hipError_t long_runs(void* temporary, size_t& bytes, Keys keys, Offsets offsets, Lengths lengths, Runs runs,
                     Equality equality, uint64_t items, hipStream_t stream) {
  if (items == 0) return store_zero(temporary, bytes, runs, stream);
  Heads<Keys, Equality> heads{keys, equality};
  return scan_with<LongRun>(
      temporary, bytes, LoadingLongRun<Keys, Equality>{heads, items},
      StoringLongRun<Keys, Equality, Offsets, Lengths, Runs>{heads, offsets, lengths, runs, items}, items, LongRunOp{},
      Nothing{}, stream);
}

}  // namespace primitives
}  // namespace gpulab
