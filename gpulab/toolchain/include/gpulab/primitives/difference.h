// Differences of neighbours.
#pragma once
#include "launching.h"
#include "operators.h"

namespace gpulab {
namespace primitives {

template <bool left, typename Input, typename Output, typename Op>
struct DifferenceAction {
  Input input;
  Output output;
  uint64_t items;
  Op op;
  __GPULAB_DEVICE_MEMBER__ void operator()(uint64_t i) {
    if constexpr (left) {
      if (i == 0) {
        at(output, i) = at(input, i);
      } else {
        at(output, i) = op(at(input, i), at(input, i - 1));
      }
    } else {
      if (i + 1 == items) {
        at(output, i) = at(input, i);
      } else {
        at(output, i) = op(at(input, i), at(input, i + 1));
      }
    }
  }
};
// output[i] = op(item i, the one before it (`left`) or after it); where there is none, the item itself.
template <bool left, bool in_place, typename Input, typename Output, typename Op>
hipError_t adjacent_difference(void* temporary, size_t& bytes, Input input, Output output, uint64_t items, Op op,
                               hipStream_t stream) {
  using T = element_of<Input>;
  T* kept = nullptr;
  Storage storage(temporary, bytes);
  if constexpr (in_place) storage.add(kept, items);
  hipError_t result;
  if (!storage.fits(result) || items == 0) return result;
  if constexpr (in_place) {
    result = copy(input, kept, items, stream);
    if (result != hipSuccess) return result;
    return for_each_index(items, DifferenceAction<left, const T*, Output, Op>{kept, output, items, op}, stream);
  } else {
    return for_each_index(items, DifferenceAction<left, Input, Output, Op>{input, output, items, op}, stream);
  }
}

}  // namespace primitives
}  // namespace gpulab
