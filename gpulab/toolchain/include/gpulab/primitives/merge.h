// Merges and merge sorts, with a comparison: stable, for items of any type that can be copied byte by byte.
//
// A block sorts a tile: each thread keeps one item, and finds its place among the neighbouring run's items by binary
// search, run after run. Then runs are merged in pairs, each thread `merge_items` neighbouring results: a binary search
// says where in both runs they begin ("merge path", https://arxiv.org/abs/1406.2628).
#pragma once
#include "launching.h"
#include "operators.h"

namespace gpulab {
namespace primitives {

inline constexpr unsigned int tile_items = 256;
inline constexpr unsigned int merge_items = 8;

template <typename Iterator>
inline constexpr bool no_values = __is_same(bare<Iterator>, NoValues*) || __is_same(bare<Iterator>, const NoValues*);

// How many of the sorted items go before this one: those that are less, with `equal_too` also those that are not
// greater.
template <typename KeyT, typename Items, typename Index, typename Compare>
__GPULAB_FUNCTION__ Index rank_among(Items items, Index count, const KeyT& item, bool equal_too, Compare& less) {
  Index low = 0;
#pragma clang loop unroll(disable)
  while (low < count) {
    Index middle = low + (count - low) / 2;
    const KeyT& other = at(items, middle);
    bool before = equal_too ? !less(item, other) : less(other, item);
    if (before) {
      low = middle + 1;
    } else {
      count = middle;
    }
  }
  return low;
}

template <typename KeyT, typename Keys, typename KeysOut, typename Values, typename ValuesOut, typename Compare>
__global__ __launch_bounds__(tile_items) void sort_tiles(uint64_t items, Keys keys, KeysOut keys_out, Values values,
                                                         ValuesOut values_out, Compare less) {
  static_assert(sizeof(KeyT) <= 128, "gpulab: keys of a merge sort have at most 128 bytes; sort their numbers instead");
  __shared__ Room<KeyT> sorted[tile_items];
  uint64_t begin = static_cast<uint64_t>(blockIdx.x) * tile_items;
  unsigned int count = items - begin < tile_items ? static_cast<unsigned int>(items - begin) : tile_items;
  unsigned int thread = threadIdx.x, place = thread;
  bool mine = thread < count;
  Room<KeyT> key;
  using ValueT = element_of<Values>;
  Room<ValueT> value;
  if (mine) {
    key.get() = at(keys, begin + thread);
    if constexpr (!no_values<Values>) value.get() = at(values, begin + thread);
    sorted[thread] = key;
  }
  __syncthreads();
#pragma clang loop unroll(disable)
  for (unsigned int run = 1; run < tile_items; run *= 2) {
    if (mine) {
      unsigned int pair = place & ~(2 * run - 1), own = place & run;
      unsigned int other = own ? pair : least(pair + run, count);
      unsigned int others = least(other + run, count) - other;
      const KeyT* from = &sorted[0].get();
      place = pair + (place & (run - 1)) + rank_among(from + other, others, key.get(), own != 0, less);
    }
    __syncthreads();
    if (mine) sorted[place] = key;
    __syncthreads();
  }
  if (mine) {
    at(keys_out, begin + place) = key.get();
    if constexpr (!no_values<Values>) at(values_out, begin + place) = value.get();
  }
}

// How many of the first `diagonal` results come from the left items. Of equal items the left ones come first.
template <typename Left, typename Right, typename Compare>
__GPULAB_FUNCTION__ uint64_t merge_path(Left left, uint64_t lefts, Right right, uint64_t rights, uint64_t diagonal,
                                        Compare& less) {
  uint64_t low = diagonal > rights ? diagonal - rights : 0, high = least(diagonal, lefts);
#pragma clang loop unroll(disable)
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (less(at(right, diagonal - 1 - middle), at(left, middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
// Stores merge_items results (or what is left) from `diagonal` on: put(result, from the left?, place there).
template <typename Left, typename Right, typename Compare, typename Put>
__GPULAB_FUNCTION__ void merge_some(Left left, uint64_t lefts, Right right, uint64_t rights, uint64_t diagonal,
                                    Compare& less, Put put) {
  uint64_t i = merge_path(left, lefts, right, rights, diagonal, less), j = diagonal - i;
#pragma clang loop unroll(disable)
  for (unsigned int k = 0; k < merge_items && i + j < lefts + rights; ++k) {
    bool from_left = j >= rights || (i < lefts && !less(at(right, j), at(left, i)));
    put(i + j, from_left, from_left ? i : j);
    from_left ? ++i : ++j;
  }
}

template <typename Keys, typename KeysOut, typename Values, typename ValuesOut, typename Compare>
__global__ __launch_bounds__(block_threads) void merge_runs(uint64_t items, uint64_t run, Keys keys, KeysOut keys_out,
                                                            Values values, ValuesOut values_out, Compare less) {
  uint64_t first = (static_cast<uint64_t>(blockIdx.x) * block_threads + threadIdx.x) * merge_items;
  if (first >= items) return;
  uint64_t pair = first & ~(2 * run - 1), middle = least(pair + run, items), end = least(pair + 2 * run, items);
  merge_some(keys + pair, middle - pair, keys + middle, end - middle, first - pair, less,
             [=](uint64_t place, bool from_left, uint64_t index) __attribute__((always_inline, nodebug)) {
               uint64_t source = (from_left ? pair : middle) + index;
               at(keys_out, pair + place) = at(keys, source);
               if constexpr (!no_values<Values>) at(values_out, pair + place) = at(values, source);
             });
}

// Keys and values may be replaced in place (input and output the same).
template <typename Keys, typename KeysOut, typename Values, typename ValuesOut, typename Compare>
hipError_t merge_sort(void* temporary, size_t& bytes, Keys keys, KeysOut keys_out, Values values, ValuesOut values_out,
                      uint64_t items, Compare less, hipStream_t stream) {
  using KeyT = element_or<KeysOut, element_of<Keys>>;
  using ValueT = element_or<ValuesOut, element_of<Values>>;
  uint64_t tiles = divide_up(items, static_cast<uint64_t>(tile_items));
  KeyT* other_keys = nullptr;
  ValueT* other_values = nullptr;
  Storage storage(temporary, bytes);
  if (tiles > 1) {
    storage.add(other_keys, items);
    if constexpr (!no_values<Values>) storage.add(other_values, items);
  }
  hipError_t result;
  if (!storage.fits(result) || items == 0) return result;
  unsigned int passes = 0;
  for (uint64_t run = tile_items; run < items; run *= 2) ++passes;
  unsigned int grid = static_cast<unsigned int>(tiles);
  bool out = passes % 2 == 0;
  if (out) {
    sort_tiles<KeyT><<<grid, tile_items, 0, stream>>>(items, keys, keys_out, values, values_out, less);
  } else {
    sort_tiles<KeyT><<<grid, tile_items, 0, stream>>>(items, keys, other_keys, values, other_values, less);
  }
  grid = static_cast<unsigned int>(divide_up(items, static_cast<uint64_t>(block_threads) * merge_items));
  for (uint64_t run = tile_items; run < items; run *= 2, out = !out) {
    if (out) {
      merge_runs<<<grid, block_threads, 0, stream>>>(items, run, keys_out, other_keys, values_out, other_values, less);
    } else {
      merge_runs<<<grid, block_threads, 0, stream>>>(items, run, other_keys, keys_out, other_values, values_out, less);
    }
  }
  return finish();
}

// Two sorted inputs into one output.
template <typename TypeA, typename TypeB, typename Out, typename AV, typename BV, typename OutV, typename Compare>
struct MergeAction {
  TypeA a;
  TypeB b;
  Out out;
  AV a_values;
  BV b_values;
  OutV out_values;
  uint64_t a_items, b_items;
  Compare less;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) {
    MergeAction self = *this;
    merge_some(a, a_items, b, b_items, i * merge_items, less,
               [=](uint64_t place, bool from_a, uint64_t index) __attribute__((always_inline, nodebug)) {
                 if (from_a) {
                   at(self.out, place) = at(self.a, index);
                   if constexpr (!no_values<AV>) at(self.out_values, place) = at(self.a_values, index);
                 } else {
                   at(self.out, place) = at(self.b, index);
                   if constexpr (!no_values<AV>) at(self.out_values, place) = at(self.b_values, index);
                 }
               });
  }
};
template <typename TypeA, typename TypeB, typename Out, typename AV, typename BV, typename OutV, typename Compare>
hipError_t merge(void* temporary, size_t& bytes, TypeA a, TypeB b, Out out, AV a_values, BV b_values, OutV out_values,
                 uint64_t a_items, uint64_t b_items, Compare less, hipStream_t stream) {
  hipError_t result;
  if (!Storage(temporary, bytes).fits(result)) return result;
  return for_each_index(divide_up(a_items + b_items, static_cast<uint64_t>(merge_items)),
                        MergeAction<TypeA, TypeB, Out, AV, BV, OutV, Compare>{a, b, out, a_values, b_values, out_values,
                                                                              a_items, b_items, less},
                        stream);
}

}  // namespace primitives
}  // namespace gpulab
