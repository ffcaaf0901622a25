// Reductions of the whole input and of segments. The operator is associative and commutative.
//
// A wave reduces its part, lane by lane; one more wave the results of all parts.
#pragma once
#include "launching.h"
#include "operators.h"

namespace gpulab {
namespace primitives {

// op of `items` items that load gives; right in lane 0. items is 1 or more.
template <typename T, typename Load, typename Op>
__GPULAB_FUNCTION__ __attribute__((convergent)) T reduce_range(Load load, uint64_t begin, uint64_t items, Op& op) {
  unsigned int lane = lane_index();
  unsigned int valid = static_cast<unsigned int>(items < wave_size ? items : wave_size);
  Room<T> total;
  __builtin_memset(&total, 0, sizeof(T));
  if (lane < valid) {
    total.get() = load(begin + lane);
#pragma clang loop unroll(disable)
    for (uint64_t i = lane + wave_size; i < items; i += wave_size) total.get() = op(total.get(), load(begin + i));
  }
  reduce_lanes<wave_size>(total.get(), lane, valid, op);
  return total.get();
}

template <typename T, typename Load, typename Op, typename Store>
__global__ __launch_bounds__(block_threads) void reduce_parts(Parts parts, Load load, Op op, Store store) {
  Part part;
  if (!next_part(parts, part)) return;
  T total = reduce_range<T>(load, part.begin, part.items, op);
  if (lane_index() == 0) store(part.number, total);
}
// A value for an empty input, which is no part of other results.
template <typename T>
struct IfEmpty {
  T value;
};
template <typename T, typename Init, typename Op>
__GPULAB_FUNCTION__ T with_init(const Init& init, const T& total, Op& op) {
  return op(static_cast<T>(init), total);
}
template <typename T, typename Op>
__GPULAB_FUNCTION__ T with_init(const IfEmpty<T>&, const T& total, Op&) {
  return total;
}
template <typename T, typename Init>
__GPULAB_FUNCTION__ T empty_result(const Init& init) {
  return static_cast<T>(init);
}
template <typename T>
__GPULAB_FUNCTION__ T empty_result(const IfEmpty<T>& init) {
  return init.value;
}

template <typename T, typename Load, typename Op, typename Init, typename Store>
__global__ __launch_bounds__(64) void reduce_last(uint64_t items, Load load, Op op, Init init, Store store) {
  if (wave_index() > 0) return;
  if (items == 0) {
    if (lane_index() == 0) store(0, empty_result<T>(init));
    return;
  }
  T total = reduce_range<T>(load, 0, items, op);
  if (lane_index() == 0) store(0, with_init(init, total, op));
}

template <typename Iterator>
struct Loading {
  Iterator from;
  __GPULAB_DEVICE_MEMBER__ decltype(auto) operator()(uint64_t i) const { return at(from, i); }
};
template <typename Iterator>
struct Storing {
  Iterator to;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, const T& value) const {
    at(to, i) = value;
  }
};

// store(0, op of init and all that load(i) gives), computed as T.
template <typename T, typename Load, typename Store, typename Op, typename Init>
hipError_t reduce(void* temporary, size_t& bytes, Load load, Store store, uint64_t items, Op op, Init init,
                  hipStream_t stream) {
  Parts parts(items);
  T* totals = nullptr;
  Storage storage(temporary, bytes);
  storage.add(totals, parts.count);
  hipError_t result;
  if (!storage.fits(result)) return result;
  if (parts.count <= 1) {
    reduce_last<T><<<1, 64, 0, stream>>>(items, load, op, init, store);
  } else {
    reduce_parts<T><<<parts.blocks(), block_threads, 0, stream>>>(parts, load, op, Storing<T*>{totals});
    reduce_last<T><<<1, 64, 0, stream>>>(parts.count, Loading<const T*>{totals}, op, init, store);
  }
  return finish();
}

// For each segment store(s, op of init and the items from begins[s] to before ends[s]); a wave has a segment.
template <typename T, typename Load, typename Begins, typename Ends, typename Op, typename Init, typename Store>
__global__ __launch_bounds__(block_threads) void reduce_segments(unsigned int segments, Load load, Begins begins,
                                                                 Ends ends, Op op, Init init, Store store) {
  unsigned int wave = wave_index(), step = gridDim.x * 4;
  if (wave >= 4) return;
#pragma clang loop unroll(disable)
  for (unsigned int segment = blockIdx.x * 4 + wave; segment < segments; segment += step) {
    uint64_t begin = uniform(static_cast<uint64_t>(at(begins, segment)));
    uint64_t end = uniform(static_cast<uint64_t>(at(ends, segment)));
    if (begin >= end) {
      if (lane_index() == 0) store(segment, begin, true, empty_result<T>(init));
      continue;
    }
    T total = reduce_range<T>(load, begin, end - begin, op);
    if (lane_index() == 0) store(segment, begin, false, with_init(init, total, op));
  }
}
template <typename Iterator>
struct StoringSegment {
  Iterator to;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(unsigned int segment, uint64_t, bool, const T& value) const {
    at(to, segment) = value;
  }
};
template <typename T, typename Load, typename Begins, typename Ends, typename Op, typename Init, typename Store>
hipError_t reduce_by_segment(void* temporary, size_t& bytes, Load load, Store store, unsigned int segments,
                             Begins begins, Ends ends, Op op, Init init, hipStream_t stream) {
  hipError_t result;
  if (!Storage(temporary, bytes).fits(result) || segments == 0) return result;
  unsigned int blocks = least(divide_up(segments, 4u), 4096u);
  reduce_segments<T><<<blocks, block_threads, 0, stream>>>(segments, load, begins, ends, op, init, store);
  return finish();
}

}  // namespace primitives
}  // namespace gpulab
