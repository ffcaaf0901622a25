// Sorts within a block or a logical warp.
#pragma once
#include "group.h"
#include "keys.h"

namespace gpulab {
namespace primitives {

// ---- by digits, in a block ---------------------------------------------------------------------------------------

template <typename Group, unsigned int digit_width>
struct DigitCounts {
  static constexpr unsigned int digits = 1u << digit_width;
  unsigned int counts[Group::waves * digits];  // of digit d in wave w: [d * waves + w]
};
// The rank of each item in the order of the digits; equal ones stay in order. Items are striped within waves.
// `before(digit)` of the storage is afterwards how many items have smaller digits: counts[digit * waves].
template <typename Group, unsigned int digit_width, unsigned int count, typename Digit>
__GPULAB_FUNCTION__ __attribute__((convergent)) void rank_digits(DigitCounts<Group, digit_width>& shared,
                                                                 unsigned int (&ranks)[count], Digit digit) {
  constexpr unsigned int cells = Group::waves * (1u << digit_width);
  unsigned int thread = Group::index(), wave = Group::wave(), lane = lane_index();
#pragma unroll 1
  for (unsigned int i = thread; i < cells; i += Group::threads) shared.counts[i] = 0;
  Group::sync();
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) {
    unsigned int d = digit(i);
    uint64_t same = ballot(true);
#pragma unroll
    for (unsigned int bit = 0; bit < digit_width; ++bit) {
      bool set = (d >> bit) & 1u;
      uint64_t having = ballot(set);
      same &= set ? having : ~having;
    }
    unsigned int* counter = &shared.counts[d * Group::waves + wave];
    unsigned int before = count_before(same);
    ranks[i] = *counter + before;
    wave_sync();
    if (before == 0) *counter += static_cast<unsigned int>(__builtin_popcountll(same));
    wave_sync();
  }
  Group::sync();
  if (wave == 0) {
    unsigned int lanes = Group::lanes(0), sum = 0;
    Sum op;
#pragma unroll 1
    for (unsigned int i = 0; i < cells; i += lanes) {
      unsigned int cell = i + lane, mine = cell < cells ? shared.counts[cell] : 0, upto = mine;
      scan_lanes<wave_size>(upto, lane, lanes, op);
      if (cell < cells) shared.counts[cell] = sum + upto - mine;
      sum += from_one_lane(upto, lanes - 1);
    }
  }
  Group::sync();
#pragma unroll
  for (unsigned int i = 0; i < count; ++i) ranks[i] += shared.counts[digit(i) * Group::waves + wave];
}

template <typename Group, unsigned int digit_width, unsigned int count, typename KeyT, typename ValueT>
union RadixSortRoom {
  DigitCounts<Group, digit_width> digits;
  Items<KeyT, Group::threads * count> keys;
  Items<ValueT, Group::threads * count> values;
};
// Blocked keys (and values) are sorted by the bits from begin_bit on; blocked again, or striped.
template <typename Group, unsigned int digit_width, bool striped, unsigned int count, typename KeyT, typename ValueT,
          typename Coder>
__GPULAB_FUNCTION__ __attribute__((convergent)) void radix_sort_block(
    RadixSortRoom<Group, digit_width, count, KeyT, ValueT>& shared, KeyT (&keys)[count], ValueT (&values)[count],
    unsigned int begin_bit, unsigned int end_bit, Coder coder) {
  constexpr bool with_values = !__is_same(ValueT, NoValues);
  WaveStriped<Group, count> in_waves;
  exchange<Group>(shared.keys, keys, keys, Blocked<Group, count>{}, in_waves);
  Group::sync();
  if constexpr (with_values) {
    exchange<Group>(shared.values, values, values, Blocked<Group, count>{}, in_waves);
    Group::sync();
  }
#pragma clang loop unroll(disable)
  for (unsigned int low = begin_bit; low < end_bit; low += digit_width) {
    unsigned int width = least(digit_width, end_bit - low);
    unsigned int ranks[count];
    rank_digits<Group, digit_width>(shared.digits, ranks, [&](unsigned int i) __attribute__((always_inline, nodebug)) {
      return coder.digit(keys[i], low, width);
    });
    Group::sync();
    exchange<Group>(shared.keys, keys, keys, ByRank<unsigned int[count]>{ranks}, in_waves);
    Group::sync();
    if constexpr (with_values) {
      exchange<Group>(shared.values, values, values, ByRank<unsigned int[count]>{ranks}, in_waves);
      Group::sync();
    }
  }
  using Last = choose_t<striped, Striped<Group, count>, Blocked<Group, count>>;
  exchange<Group>(shared.keys, keys, keys, in_waves, Last{});
  if constexpr (with_values) {
    Group::sync();
    exchange<Group>(shared.values, values, values, in_waves, Last{});
  }
}

// ---- by a comparison, in a block or a logical warp ---------------------------------------------------------------

template <typename Group, unsigned int count, typename KeyT, typename ValueT>
union MergeSortRoom {
  Items<KeyT, Group::threads * count> keys;
  Items<ValueT, Group::threads * count> values;
};
// Blocked items are sorted; equal ones stay in order. Of the group's items the first `valid` take part, and come first.
template <typename Group, unsigned int count, typename KeyT, typename ValueT, typename Compare>
__GPULAB_FUNCTION__ __attribute__((convergent)) void merge_sort_group(MergeSortRoom<Group, count, KeyT, ValueT>& shared,
                                                                      KeyT (&keys)[count], ValueT (&values)[count],
                                                                      unsigned int valid, Compare& less) {
  constexpr bool with_values = !__is_same(ValueT, NoValues);
  unsigned int thread = Group::index(), first = thread * count;
  // the thread's own items: neighbours change places, `count` times
#pragma unroll
  for (unsigned int round = 0; round < count; ++round) {
#pragma unroll
    for (unsigned int i = round & 1; i + 1 < count; i += 2) {
      if (first + i + 1 < valid && less(keys[i + 1], keys[i])) {
        KeyT key = keys[i];
        keys[i] = keys[i + 1];
        keys[i + 1] = key;
        if constexpr (with_values) {
          ValueT value = values[i];
          values[i] = values[i + 1];
          values[i + 1] = value;
        }
      }
    }
  }
#pragma clang loop unroll(disable)
  for (unsigned int run = count; run < Group::threads * count; run *= 2) {
#pragma unroll
    for (unsigned int i = 0; i < count; ++i) shared.keys[first + i] = keys[i];
    Group::sync();
    unsigned int pair = first / (2 * run) * (2 * run), middle = least(pair + run, valid),
                 end = least(pair + 2 * run, valid);
    unsigned int diagonal = first - pair, lefts = middle > pair ? middle - pair : 0,
                 rights = end > middle ? end - middle : 0;
    unsigned int low = diagonal > rights ? diagonal - rights : 0, high = least(diagonal, lefts);
#pragma clang loop unroll(disable)
    while (low < high) {
      unsigned int half = (low + high) / 2;
      if (less(shared.keys[middle + diagonal - 1 - half], shared.keys[pair + half])) {
        high = half;
      } else {
        low = half + 1;
      }
    }
    unsigned int left = pair + low, right = middle + diagonal - low, sources[count];
#pragma unroll
    for (unsigned int i = 0; i < count; ++i) {
      sources[i] = first + i;
      if (first + i < end) {
        bool from_left = right >= end || (left < middle && !less(shared.keys[right], shared.keys[left]));
        sources[i] = from_left ? left : right;
        from_left ? ++left : ++right;
      }
      keys[i] = shared.keys[sources[i]];
    }
    Group::sync();
    if constexpr (with_values) {
      exchange<Group>(shared.values, values, values, Blocked<Group, count>{}, ByRank<unsigned int[count]>{sources});
      Group::sync();
    }
  }
}

}  // namespace primitives
}  // namespace gpulab
