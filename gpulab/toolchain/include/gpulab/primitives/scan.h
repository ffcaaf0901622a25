// Scans, and all that is made of one: selection, partition, runs, sums by key.
//
// A wave goes over its part in tiles: each lane has `lane_items` neighbouring items, whose results the lanes scan. The
// first launch gives each part's total, the second scans the totals, the third goes over the parts again and stores.
// The operator is associative; it need not be commutative.
#pragma once
#include "launching.h"
#include "operators.h"
#include "reduce.h"

namespace gpulab {
namespace primitives {

inline constexpr unsigned int lane_items = 4;

// Goes over the items from begin on. load(i) gives item i; store(i, has, before, upto) gets the op of all items before
// it, if there are any or an initial value (`has`), and the op with itself. `carry` is what comes in and what goes out.
template <bool stores, typename T, typename Load, typename Op, typename Store>
__GPULAB_FUNCTION__ __attribute__((convergent)) void scan_range(uint64_t begin, unsigned int items, Load& load, Op& op,
                                                                Store& store, bool& has_carry, Room<T>& carry) {
  constexpr unsigned int tile = wave_size * lane_items;
  unsigned int lane = lane_index();
#pragma clang loop unroll(disable)
  for (unsigned int done = 0; done < items; done += tile) {
    unsigned int rest = least(items - done, tile), lanes = divide_up(rest, lane_items);
    uint64_t first = begin + done + lane * lane_items;
    unsigned int mine = rest > lane * lane_items ? least(rest - lane * lane_items, lane_items) : 0;
    Room<T> item[lane_items];
    Room<T> total;
    __builtin_memset(&total, 0, sizeof(T));
    if (mine != 0) {
      item[0].get() = load(first);
      total = item[0];
#pragma unroll
      for (unsigned int i = 1; i < lane_items; ++i) {
        if (i < mine) {
          item[i].get() = load(first + i);
          total.get() = op(total.get(), item[i].get());
        }
      }
    }
    scan_lanes<wave_size>(total.get(), lane, lanes, op);
    T last = from_one_lane(total.get(), uniform(lanes - 1));
    if constexpr (stores) {
      Room<T> before;
      before.get() = from_lane(total.get(), lane == 0 ? 0 : lane - 1);
      bool has = lane != 0 || has_carry;
      if (has_carry) before.get() = lane != 0 ? op(carry.get(), before.get()) : carry.get();
#pragma unroll
      for (unsigned int i = 0; i < lane_items; ++i) {
        if (i < mine) {
          T upto = item[i].get();
          if (i > 0 || has) upto = op(before.get(), item[i].get());
          store(first + i, i > 0 || has, before.get(), upto);
          before.get() = upto;
        }
      }
    }
    carry.get() = has_carry ? op(carry.get(), last) : last;
    has_carry = true;
  }
}

struct NoStore {
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t, bool, const T&, const T&) const {}
};
// Stores the results before each item; there is one, unless nobody asks for it.
template <typename Iterator>
struct StoringExclusive {
  Iterator to;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool has, const T& before, const T&) const {
    if (has) at(to, i) = before;
  }
};
template <typename Iterator>
struct StoringInclusive {
  Iterator to;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool, const T&, const T& upto) const {
    at(to, i) = upto;
  }
};

// No initial value.
struct Nothing {};

template <typename T, typename Load, typename Op>
__global__ __launch_bounds__(block_threads) void scan_totals(Parts parts, Load load, Op op, T* totals) {
  Part part;
  if (!next_part(parts, part) || part.number + 1 == parts.count) return;
  Room<T> carry;
  bool has = false;
  NoStore none;
  scan_range<false>(part.begin, part.items, load, op, none, has, carry);
  if (lane_index() == 0) totals[part.number] = carry.get();
}
template <typename T, typename Init>
__GPULAB_FUNCTION__ bool begin_carry(Room<T>& carry, const Init& init) {
  if constexpr (!__is_same(Init, Nothing)) {
    carry.get() = static_cast<T>(init);
    return true;
  } else {
    __builtin_memset(&carry, 0, sizeof(T));
    return false;
  }
}
// What comes before each of the parts. The last one's total is not there, and is not asked for.
template <typename T, typename Op, typename Init>
__global__ __launch_bounds__(64) void scan_before_parts(unsigned int count, Op op, Init init, T* totals) {
  if (wave_index() > 0) return;
  Room<T> carry;
  bool has = begin_carry(carry, init);
  Loading<const T*> load{totals};
  StoringExclusive<T*> store{totals};
  scan_range<true>(0, count - 1, load, op, store, has, carry);
  if (lane_index() == 0) totals[count - 1] = carry.get();
}
template <typename T, typename Load, typename Op, typename Init, typename Store>
__global__ __launch_bounds__(block_threads) void scan_parts(Parts parts, Load load, Op op, Init init, Store store,
                                                            const T* before) {
  Part part;
  if (!next_part(parts, part)) return;
  Room<T> carry;
  bool has = begin_carry(carry, init);
  if (part.number != 0) {
    carry.get() = before[part.number];
    has = true;
  }
  scan_range<true>(part.begin, part.items, load, op, store, has, carry);
}

// store(i, has, before, upto) for each i of the items, as in scan_range; computed as T.
template <typename T, typename Load, typename Store, typename Op, typename Init>
hipError_t scan_with(void* temporary, size_t& bytes, Load load, Store store, uint64_t items, Op op, Init init,
                     hipStream_t stream) {
  Parts parts(items);
  T* totals = nullptr;
  Storage storage(temporary, bytes);
  storage.add(totals, parts.count);
  hipError_t result;
  if (!storage.fits(result) || items == 0) return result;
  if (parts.count > 1) {
    scan_totals<T><<<parts.blocks(), block_threads, 0, stream>>>(parts, load, op, totals);
    scan_before_parts<T><<<1, 64, 0, stream>>>(parts.count, op, init, totals);
  }
  scan_parts<T><<<parts.blocks(), block_threads, 0, stream>>>(parts, load, op, init, store, totals);
  return finish();
}

// The plain scans: the accumulator's type, then input and output iterators.
template <typename T, typename Input, typename Output, typename Op, typename Init>
hipError_t exclusive_scan(void* temporary, size_t& bytes, Input input, Output output, uint64_t items, Op op, Init init,
                          hipStream_t stream) {
  return scan_with<T>(temporary, bytes, Loading<Input>{input}, StoringExclusive<Output>{output}, items, op, init,
                      stream);
}
template <typename T, typename Input, typename Output, typename Op, typename Init>
hipError_t inclusive_scan(void* temporary, size_t& bytes, Input input, Output output, uint64_t items, Op op, Init init,
                          hipStream_t stream) {
  return scan_with<T>(temporary, bytes, Loading<Input>{input}, StoringInclusive<Output>{output}, items, op, init,
                      stream);
}

// Scans of runs of equal keys. `head` marks a run's first item; sums do not cross it.
template <typename T>
struct Marked {
  T value;
  bool head;
};
template <typename Op>
struct MarkedOp {
  Op op;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ Marked<T> operator()(const Marked<T>& a, const Marked<T>& b) {
    if (b.head) return b;
    return Marked<T>{static_cast<T>(op(a.value, b.value)), a.head};
  }
};
template <typename Keys, typename Equality>
struct Heads {
  Keys keys;
  Equality equality;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) { return i == 0 || !equality(at(keys, i - 1), at(keys, i)); }
};
template <typename T, typename Keys, typename Input, typename Equality>
struct LoadingMarked {
  Heads<Keys, Equality> heads;
  Input input;
  __GPULAB_DEVICE_MEMBER__ Marked<T> operator()(uint64_t i) {
    return Marked<T>{static_cast<T>(at(input, i)), heads(i)};
  }
};
template <typename Output>
struct StoringMarkedInclusive {
  Output to;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool, const Marked<T>&, const Marked<T>& upto) {
    at(to, i) = upto.value;
  }
};
template <typename Output, typename Keys, typename Equality, typename Op, typename Init>
struct StoringMarkedExclusive {
  Output to;
  Heads<Keys, Equality> heads;
  Op op;
  Init init;
  template <typename T>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool has, const Marked<T>& before, const Marked<T>&) {
    T first = static_cast<T>(init);
    if (has && !heads(i)) first = op(first, before.value);
    at(to, i) = first;
  }
};
template <typename T, typename Keys, typename Input, typename Output, typename Op, typename Equality>
hipError_t inclusive_scan_by_key(void* temporary, size_t& bytes, Keys keys, Input input, Output output, uint64_t items,
                                 Op op, Equality equality, hipStream_t stream) {
  LoadingMarked<T, Keys, Input, Equality> load{{keys, equality}, input};
  return scan_with<Marked<T>>(temporary, bytes, load, StoringMarkedInclusive<Output>{output}, items, MarkedOp<Op>{op},
                              Nothing{}, stream);
}
template <typename T, typename Keys, typename Input, typename Output, typename Op, typename Init, typename Equality>
hipError_t exclusive_scan_by_key(void* temporary, size_t& bytes, Keys keys, Input input, Output output, uint64_t items,
                                 Op op, Init init, Equality equality, hipStream_t stream) {
  LoadingMarked<T, Keys, Input, Equality> load{{keys, equality}, input};
  StoringMarkedExclusive<Output, Keys, Equality, Op, Init> store{output, {keys, equality}, op, init};
  return scan_with<Marked<T>>(temporary, bytes, load, store, items, MarkedOp<Op>{op}, Nothing{}, stream);
}

}  // namespace primitives
}  // namespace gpulab
