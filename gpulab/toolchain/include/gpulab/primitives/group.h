// What a group of threads does together: a block, or a logical warp. Functions take the group as a type:
//   Group::threads   how many threads it has
//   Group::index()   this thread's number in it
//   Group::sync()    what its threads stored in shared memory is there for all of them
// Arrays of `count` items are "blocked": thread 0 has the first `count` items of the group, thread 1 the next.
// "Striped": thread 0 has the items 0, threads, 2 * threads, ...
#pragma once
#include "operators.h"
#include "wave.h"

namespace gpulab {
namespace primitives {

template <unsigned int x, unsigned int y = 1, unsigned int z = 1>
struct Block {
  static constexpr unsigned int threads = x * y * z;
  static constexpr unsigned int waves = divide_up(threads, wave_size);
  static __GPULAB_DEVICE_MEMBER__ unsigned int index() {
    if constexpr (y == 1 && z == 1) {
      return threadIdx.x;
    } else {
      return (threadIdx.z * y + threadIdx.y) * x + threadIdx.x;
    }
  }
  static __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void sync() { __syncthreads(); }
  static __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) unsigned int wave() {
    return uniform(index() / wave_size);
  }
  // Of this wave.
  static __GPULAB_DEVICE_MEMBER__ unsigned int lanes(unsigned int wave) {
    if constexpr (threads % wave_size == 0) {
      return wave_size;
    } else {
      return least(threads - wave * wave_size, wave_size);
    }
  }
};
template <unsigned int size>
struct Warp {
  static constexpr unsigned int threads = size;
  static __GPULAB_DEVICE_MEMBER__ unsigned int index() {
    if constexpr (size > wave_size) {
      // The other devices of the program may have so many lanes.
      if (lane_index() == 0) {
        printf("a logical warp of %u threads does not fit this device's waves of %u lanes\n", size, wave_size);
      }
      __builtin_trap();
    }
    return size == wave_size ? lane_index() : lane_index() % size;
  }
  static __GPULAB_DEVICE_MEMBER__ __attribute__((convergent)) void sync() { wave_sync(); }
};

// Shared memory for one item of each thread and more: `count` items.
template <typename T, unsigned int count>
struct Items {
  Room<T> item[count];
  __GPULAB_DEVICE_MEMBER__ T& operator[](unsigned int i) { return item[i].get(); }
};

// ---- reductions and scans ----------------------------------------------------------------------------------------

template <typename T, typename Group>
struct BlockTotals {
  Room<T> totals[Group::waves];
  Room<T> prefix;
};

// Thread 0 gets op of the values of the first `valid` threads, in their order.
template <typename Group, typename T, typename Op>
__GPULAB_FUNCTION__ __attribute__((convergent)) T reduce_block(BlockTotals<T, Group>& shared,
                                                               __GPULAB_EXCHANGED__ T value, unsigned int valid,
                                                               Op& op) {
  unsigned int wave = Group::wave(), lane = Group::index() % wave_size, first = wave * wave_size;
  unsigned int mine = valid > first ? least(valid - first, wave_size) : 0;
  reduce_lanes<wave_size>(value, lane, mine, op);
  if constexpr (Group::waves > 1) {
    if (lane == 0) shared.totals[wave].get() = value;
    Group::sync();
    if (Group::index() == 0) {
#pragma unroll
      for (unsigned int w = 1; w < Group::waves; ++w) {
        if (w * wave_size < valid) value = op(value, shared.totals[w].get());
      }
    }
  }
  return value;
}
template <typename T, unsigned int count, typename Op>
__GPULAB_FUNCTION__ T reduce_items(T (&items)[count], Op& op) {
  T total = items[0];
#pragma unroll
  for (unsigned int i = 1; i < count; ++i) total = op(total, items[i]);
  return total;
}

// `upto` becomes op of the values of the threads so far, `before` that of the threads before this one (thread 0 has
// none: its is not set), `all` that of the group.
template <typename Group, typename T, typename Op>
__GPULAB_FUNCTION__ __attribute__((convergent)) void scan_block(BlockTotals<T, Group>& shared, T& upto, T& before,
                                                                T& all, Op& op) {
  unsigned int wave = Group::wave(), lane = Group::index() % wave_size, lanes = Group::lanes(wave);
  scan_lanes<wave_size>(upto, lane, lanes, op);
  before = from_lane(upto, lane == 0 ? lane_index() : lane_index() - 1);
  if constexpr (Group::waves == 1) {
    all = from_one_lane(upto, lanes - 1);
  } else {
    if (lane == lanes - 1) shared.totals[wave].get() = upto;
    Group::sync();
    Room<T> prefix;
    prefix.get() = shared.totals[0].get();
    all = shared.totals[0].get();
#pragma unroll
    for (unsigned int w = 1; w < Group::waves; ++w) {
      if (w == wave) prefix.get() = all;
      all = op(all, shared.totals[w].get());
    }
    if (wave != 0) {
      before = lane == 0 ? prefix.get() : op(prefix.get(), before);
      upto = op(prefix.get(), upto);
    }
  }
}
// The value that the first thread's function gives for the group's total, in all threads.
template <typename Group, typename T, typename Callback>
__GPULAB_FUNCTION__ __attribute__((convergent)) T prefix_of(BlockTotals<T, Group>& shared, const T& all,
                                                            Callback& callback) {
  if (Group::wave() == 0) {
    T prefix = callback(all);
    if (Group::index() == 0) shared.prefix.get() = prefix;
  }
  Group::sync();
  return shared.prefix.get();
}

// The same within a logical warp.
template <unsigned int size, typename T, typename Op>
__GPULAB_FUNCTION__ __attribute__((convergent)) void scan_warp(T& upto, T& before, T& all, Op& op) {
  unsigned int index = Warp<size>::index(), lane = lane_index();
  scan_lanes<size>(upto, index, size, op);
  before = from_lane(upto, index == 0 ? lane : lane - 1);
  all = from_lane(upto, lane - index + size - 1);
}
// Each run of lanes up to the next head (or to a tail) is reduced; right in the run's first lane.
template <unsigned int size, bool heads, typename T, typename Flag, typename Op>
__GPULAB_FUNCTION__ __attribute__((convergent)) T reduce_runs(T value, Flag flag, Op& op) {
  unsigned int index = Warp<size>::index(), lane = lane_index(), first = lane - index;
  uint64_t flags = ballot(static_cast<bool>(flag)) >> first;
  if constexpr (size < 64) flags &= (uint64_t(1) << size) - 1;
  // the first lane behind this run
  uint64_t behind = heads ? flags & ~((uint64_t(2) << index) - 1) : flags & ~((uint64_t(1) << index) - 1);
  unsigned int end = behind == 0 ? size : static_cast<unsigned int>(__builtin_ctzll(behind)) + (heads ? 0 : 1);
  reduce_lanes<size>(value, index, end, op);
  return value;
}

// ---- moving items between arrangements ---------------------------------------------------------------------------

// Item i of this thread goes to place to(i), and comes back from place from(i).
template <typename Group, typename T, typename U, unsigned int count, unsigned int room, typename To, typename From>
__GPULAB_FUNCTION__ __attribute__((convergent)) void exchange(Items<T, room>& shared, const T (&in)[count],
                                                              U (&out)[count], To to, From from) {
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) shared[to(i)] = in[i];
  Group::sync();
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) out[i] = shared[from(i)];
}
template <typename Group, unsigned int count>
struct Blocked {
  __GPULAB_DEVICE_MEMBER__ unsigned int operator()(unsigned int i) const { return Group::index() * count + i; }
};
template <typename Group, unsigned int count>
struct Striped {
  __GPULAB_DEVICE_MEMBER__ unsigned int operator()(unsigned int i) const { return i * Group::threads + Group::index(); }
};
// Striped within each wave; the items of a wave follow those of the one before it.
template <typename Group, unsigned int count>
struct WaveStriped {
  __GPULAB_DEVICE_MEMBER__ unsigned int operator()(unsigned int i) const {
    unsigned int wave = Group::index() / wave_size, lane = Group::index() % wave_size;
    return wave * wave_size * count + i * Group::lanes(wave) + lane;
  }
};
template <typename Ranks>
struct ByRank {
  Ranks& ranks;
  __GPULAB_DEVICE_MEMBER__ unsigned int operator()(unsigned int i) const { return static_cast<unsigned int>(ranks[i]); }
};

// items[i] = in[place(i)]; with `valid` only places before it, others keep what they have.
template <typename Iterator, typename T, unsigned int count, typename Place>
__GPULAB_FUNCTION__ void load_items(Iterator in, T (&items)[count], unsigned int valid, Place place) {
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) {
    unsigned int p = place(i);
    if (p < valid) items[i] = at(in, p);
  }
}
template <typename Iterator, typename T, unsigned int count, typename Place>
__GPULAB_FUNCTION__ void load_items(Iterator in, T (&items)[count], Place place) {
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) items[i] = at(in, place(i));
}
template <typename Iterator, typename T, unsigned int count, typename Place>
__GPULAB_FUNCTION__ void store_items(Iterator out, T (&items)[count], unsigned int valid, Place place) {
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) {
    unsigned int p = place(i);
    if (p < valid) at(out, p) = items[i];
  }
}
template <typename Iterator, typename T, unsigned int count, typename Place>
__GPULAB_FUNCTION__ void store_items(Iterator out, T (&items)[count], Place place) {
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) at(out, place(i)) = items[i];
}

// ---- neighbours --------------------------------------------------------------------------------------------------

// The last item of the thread before this one; the first thread gets its own, which is not used.
template <typename Group, typename T, unsigned int room>
__GPULAB_FUNCTION__ __attribute__((convergent)) T item_before(Items<T, room>& shared, const T& last) {
  unsigned int thread = Group::index();
  shared[thread] = last;
  Group::sync();
  return shared[thread == 0 ? 0 : thread - 1];
}
template <typename Group, typename T, unsigned int room>
__GPULAB_FUNCTION__ __attribute__((convergent)) T item_after(Items<T, room>& shared, const T& first) {
  unsigned int thread = Group::index();
  shared[thread] = first;
  Group::sync();
  return shared[thread + 1 == Group::threads ? thread : thread + 1];
}
// op(a, b), or op(a, b, place of b).
template <typename Op, typename T>
__GPULAB_FUNCTION__ auto call_flag(Op& op, const T& a, const T& b, int place, int) -> decltype(op(a, b, place)) {
  return op(a, b, place);
}
template <typename Op, typename T>
__GPULAB_FUNCTION__ auto call_flag(Op& op, const T& a, const T& b, int, long) -> decltype(op(a, b)) {
  return op(a, b);
}

}  // namespace primitives
}  // namespace gpulab
