// Selection and partition: items for which a condition holds, in their order.
//
// The condition is asked twice for each item, by its number: once to count, once to store.
#pragma once
#include "runs.h"

namespace gpulab {
namespace primitives {

// Conditions, by an item's number.
template <typename Input, typename Predicate>
struct Satisfying {
  Input input;
  Predicate predicate;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) { return predicate(at(input, i)); }
};
template <typename Flags>
struct Flagged {
  Flags flags;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) { return static_cast<bool>(at(flags, i)); }
};
template <typename Flags, typename Predicate>
struct FlagsSatisfying {
  Flags flags;
  Predicate predicate;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) { return predicate(at(flags, i)); }
};

// Sinks: what becomes of item i, the rank-th that is selected, or of one that is not.
template <typename Input, typename Output>
struct Keep {
  Input input;
  Output output;
  __GPULAB_DEVICE_MEMBER__ void selected(uint64_t i, uint64_t rank) { at(output, rank) = at(input, i); }
  __GPULAB_DEVICE_MEMBER__ void rejected(uint64_t, uint64_t) {}
};
template <typename Keys, typename Values, typename KeysOut, typename ValuesOut>
struct KeepPair {
  Keys keys;
  Values values;
  KeysOut keys_out;
  ValuesOut values_out;
  __GPULAB_DEVICE_MEMBER__ void selected(uint64_t i, uint64_t rank) {
    at(keys_out, rank) = at(keys, i);
    at(values_out, rank) = at(values, i);
  }
  __GPULAB_DEVICE_MEMBER__ void rejected(uint64_t, uint64_t) {}
};
// The others go to the output's end, the first of them last.
template <typename Input, typename Output>
struct Split {
  Input input;
  Output output;
  uint64_t items;
  __GPULAB_DEVICE_MEMBER__ void selected(uint64_t i, uint64_t rank) { at(output, rank) = at(input, i); }
  __GPULAB_DEVICE_MEMBER__ void rejected(uint64_t i, uint64_t rank) { at(output, items - 1 - rank) = at(input, i); }
};
// The others have an output of their own.
template <typename Input, typename Output, typename Others>
struct SplitApart {
  Input input;
  Output output;
  Others others;
  __GPULAB_DEVICE_MEMBER__ void selected(uint64_t i, uint64_t rank) { at(output, rank) = at(input, i); }
  __GPULAB_DEVICE_MEMBER__ void rejected(uint64_t i, uint64_t rank) { at(others, rank) = at(input, i); }
};

template <typename Condition, typename Count>
struct LoadingCondition {
  Condition condition;
  __GPULAB_DEVICE_MEMBER__ Count operator()(uint64_t i) { return condition(i) ? Count(1) : Count(0); }
};
template <typename Sink, typename Selected>
struct StoringSelected {
  Sink sink;
  Selected count;
  uint64_t items;
  template <typename Count>
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool has, const Count& before, const Count& upto) {
    Count rank = has ? before : Count(0);
    if (upto != rank) {
      sink.selected(i, rank);
    } else {
      sink.rejected(i, i - rank);
    }
    if (i + 1 == items) *count = static_cast<element_or<Selected, Count>>(upto);
  }
};
template <typename Condition, typename Sink, typename Selected>
hipError_t select(void* temporary, size_t& bytes, Condition condition, Sink sink, Selected count, uint64_t items,
                  hipStream_t stream) {
  if (items == 0) return store_zero(temporary, bytes, count, stream);
  StoringSelected<Sink, Selected> store{sink, count, items};
  if (items >> 32 == 0) {
    LoadingCondition<Condition, unsigned int> load{condition};
    return scan_with<unsigned int>(temporary, bytes, load, store, items, Sum{}, Nothing{}, stream);
  }
  LoadingCondition<Condition, uint64_t> load{condition};
  return scan_with<uint64_t>(temporary, bytes, load, store, items, Sum{}, Nothing{}, stream);
}

// The items themselves are the output: they go by way of the temporary storage.
template <typename Selected, typename Output, typename T>
struct CopyBack {
  Selected count;
  Output output;
  const T* kept;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) {
    if (i < static_cast<uint64_t>(*count)) at(output, i) = kept[i];
  }
};
template <typename Condition, typename Items, typename Selected>
hipError_t select_in_place(void* temporary, size_t& bytes, Condition condition, Items data, Selected count,
                           uint64_t items, hipStream_t stream) {
  using T = element_of<Items>;
  size_t inner = 0;
  T* kept = nullptr;
  char* more = nullptr;
  hipError_t result = select(nullptr, inner, condition, Keep<Items, T*>{data, kept}, count, items, stream);
  if (result != hipSuccess) return result;
  Storage storage(temporary, bytes);
  storage.add(kept, items);
  storage.add(more, inner);
  if (!storage.fits(result)) return result;
  result = select(more, inner, condition, Keep<Items, T*>{data, kept}, count, items, stream);
  if (result != hipSuccess) return result;
  return for_each_index(items, CopyBack<Selected, Items, T>{count, data, kept}, stream);
}

// Three ways: the first condition, else the second, else neither.
struct TwoCounts {
  uint64_t first, second;
};
struct AddTwoCounts {
  __GPULAB_DEVICE_MEMBER__ TwoCounts operator()(const TwoCounts& a, const TwoCounts& b) const {
    return TwoCounts{a.first + b.first, a.second + b.second};
  }
};
template <typename First, typename Second>
struct LoadingTwo {
  First first;
  Second second;
  __GPULAB_DEVICE_MEMBER__ TwoCounts operator()(uint64_t i) {
    if (first(i)) return TwoCounts{1, 0};
    return TwoCounts{0, second(i) ? uint64_t(1) : uint64_t(0)};
  }
};
template <typename Input, typename TypeA, typename TypeB, typename C, typename Selected>
struct StoringThree {
  Input input;
  TypeA first;
  TypeB second;
  C others;
  Selected counts;
  uint64_t items;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, bool has, const TwoCounts& before, const TwoCounts& upto) {
    TwoCounts rank = has ? before : TwoCounts{0, 0};
    if (upto.first != rank.first) {
      at(first, rank.first) = at(input, i);
    } else if (upto.second != rank.second) {
      at(second, rank.second) = at(input, i);
    } else {
      at(others, i - rank.first - rank.second) = at(input, i);
    }
    if (i + 1 == items) {
      at(counts, 0) = static_cast<element_or<Selected, uint64_t>>(upto.first);
      at(counts, 1) = static_cast<element_or<Selected, uint64_t>>(upto.second);
    }
  }
};
template <typename Input, typename TypeA, typename TypeB, typename C, typename Selected, typename First,
          typename Second>
hipError_t partition_three(void* temporary, size_t& bytes, Input input, TypeA first_out, TypeB second_out, C others_out,
                           Selected counts, uint64_t items, First first, Second second, hipStream_t stream) {
  if (items == 0) return store_zero(temporary, bytes, counts, stream, 2);
  LoadingTwo<Satisfying<Input, First>, Satisfying<Input, Second>> load{{input, first}, {input, second}};
  StoringThree<Input, TypeA, TypeB, C, Selected> store{input, first_out, second_out, others_out, counts, items};
  return scan_with<TwoCounts>(temporary, bytes, load, store, items, AddTwoCounts{}, Nothing{}, stream);
}

}  // namespace primitives
}  // namespace gpulab
