// Binary searches of many values, and searches for the first or last place where something holds.
#pragma once
#include "reduce.h"
#include "merge.h"

namespace gpulab {
namespace primitives {

enum class Bound { lower, upper, found };
template <Bound bound, typename Sorted, typename Values, typename Output, typename Compare>
struct SearchAction {
  Sorted sorted;
  Values values;
  Output output;
  uint64_t items;
  Compare less;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) {
    element_of<Values> value = at(values, i);
    uint64_t place = rank_among(sorted, items, value, bound == Bound::upper, less);
    if constexpr (bound == Bound::found) {
      at(output, i) = static_cast<element_or<Output, bool>>(place < items && !less(value, at(sorted, place)));
    } else {
      at(output, i) = static_cast<element_or<Output, uint64_t>>(place);
    }
  }
};
template <Bound bound, typename Sorted, typename Values, typename Output, typename Compare>
hipError_t search_sorted(void* temporary, size_t& bytes, Sorted sorted, Values values, Output output, uint64_t items,
                         uint64_t count, Compare less, hipStream_t stream) {
  hipError_t result;
  if (!Storage(temporary, bytes).fits(result)) return result;
  return for_each_index(
      count, SearchAction<bound, Sorted, Values, Output, Compare>{sorted, values, output, items, less}, stream);
}

// The number of the place if the condition holds there, else `otherwise`.
template <typename Condition>
struct PlaceIf {
  Condition condition;
  uint64_t otherwise;
  __GPULAB_DEVICE_MEMBER__ uint64_t operator()(uint64_t i) { return condition(i) ? i : otherwise; }
};
// output = the least i below `places` for which condition(i) holds, else `none`.
template <typename Condition, typename Output>
hipError_t find_first(void* temporary, size_t& bytes, Condition condition, Output output, uint64_t places,
                      uint64_t none, hipStream_t stream) {
  return reduce<uint64_t>(temporary, bytes, PlaceIf<Condition>{condition, none}, Storing<Output>{output}, places, Min{},
                          none, stream);
}
// The last one: places are counted from 1, so that 0 stands for none.
template <typename Condition>
struct PlaceAfterIf {
  Condition condition;
  __GPULAB_DEVICE_MEMBER__ uint64_t operator()(uint64_t i) { return condition(i) ? i + 1 : 0; }
};
template <typename Output>
struct StoringPlaceBefore {
  Output to;
  uint64_t none;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i, uint64_t place) const {
    if (i == 0) *to = static_cast<element_or<Output, uint64_t>>(place == 0 ? none : place - 1);
  }
};
// The totals of the parts go to memory of the algorithm's own, as they are; only the result is a place.
template <typename Condition, typename Output>
hipError_t find_last(void* temporary, size_t& bytes, Condition condition, Output output, uint64_t places, uint64_t none,
                     hipStream_t stream) {
  return reduce<uint64_t>(temporary, bytes, PlaceAfterIf<Condition>{condition},
                          StoringPlaceBefore<Output>{output, none}, places, Max{}, uint64_t(0), stream);
}
// Whether the short sequence stands at a place.
template <typename Input, typename Keys, typename Equality>
struct StandsAt {
  Input input;
  Keys keys;
  uint64_t count;
  Equality equality;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) {
    for (uint64_t k = 0; k < count; ++k) {
      if (!equality(at(input, i + k), at(keys, k))) return false;
    }
    return true;
  }
};
// Whether the item equals any of the keys.
template <typename Input, typename Keys, typename Equality>
struct IsOneOf {
  Input input;
  Keys keys;
  uint64_t count;
  Equality equality;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) {
    for (uint64_t k = 0; k < count; ++k) {
      if (equality(at(input, i), at(keys, k))) return true;
    }
    return false;
  }
};
// Whether `count` items from a place on equal the value.
template <typename Input, typename T, typename Equality>
struct RepeatsAt {
  Input input;
  T value;
  uint64_t count;
  Equality equality;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) {
    for (uint64_t k = 0; k < count; ++k) {
      if (!equality(at(input, i + k), value)) return false;
    }
    return true;
  }
};
template <typename Input, typename Equality>
struct EqualsNext {
  Input input;
  Equality equality;
  __GPULAB_DEVICE_MEMBER__ bool operator()(uint64_t i) { return equality(at(input, i), at(input, i + 1)); }
};

}  // namespace primitives
}  // namespace gpulab
