// What all primitives use: types of iterators' elements, results of operators, functions of host and device.
//
// hipcub/, rocprim/ and thrust/ are fronts of gpulab/primitives/. Reading order:
//   basics.h, operators.h  types and operators
//   wave.h, block.h        what the lanes of a wave and the threads of a block do together
//   launching.h            temporary storage, parts of the input, errors
//   reduce.h, scan.h, ...  algorithms of the whole device, one file each (whole programs only)
// Kernels cut their input into parts; each wave works on a part from its beginning to its end, and needs no barrier.
// What goes from part to part is computed in a launch of its own.
#pragma once
#include "../../hip/hip_runtime.h"
#ifdef __GPULAB_PROGRAM__
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>
#endif

#define __GPULAB_DEVICE_MEMBER__ __device__ inline __attribute__((always_inline, nodebug))

namespace gpulab {
namespace primitives {

// The lanes of a wave, for sizes of arrays. The host's pass takes the larger one: it only needs to read the code.
#if defined(__HIP_DEVICE_COMPILE__) && !defined(__GFX9__)
inline constexpr unsigned int wave_size = 32;
#else
inline constexpr unsigned int wave_size = 64;
#endif

template <typename T>
T&& declare() noexcept;
template <typename T>
using bare = __remove_cv(__remove_reference_t(T));
template <typename...>
struct void_of {
  using type = void;
};
template <bool condition, typename TypeA, typename TypeB>
struct choose {
  using type = TypeA;
};
template <typename TypeA, typename TypeB>
struct choose<false, TypeA, TypeB> {
  using type = TypeB;
};
template <bool condition, typename TypeA, typename TypeB>
using choose_t = typename choose<condition, TypeA, TypeB>::type;

// The type of an iterator's elements; void for an output iterator that has none.
template <typename Iterator, typename = void>
struct element {
  using type = bare<decltype(*declare<Iterator&>())>;
};
template <typename Iterator>
struct element<Iterator, typename void_of<typename Iterator::value_type>::type> {
  using type = __remove_cv(typename Iterator::value_type);
};
template <typename T>
struct element<T*, void> {
  using type = __remove_cv(T);
};
template <typename Iterator>
using element_of = typename element<bare<Iterator>>::type;
// The output's element, or what comes in if it has none.
template <typename Output, typename Otherwise>
using element_or = choose_t<__is_same(element_of<Output>, void), Otherwise, element_of<Output>>;

// What op(a, b) gives, as a type that can be stored; Otherwise if this pass cannot see a result.
template <typename Otherwise, typename Op, typename TypeA, typename TypeB, typename = void>
struct result {
  using type = Otherwise;
};
template <typename Otherwise, typename Op, typename TypeA, typename TypeB>
struct result<Otherwise, Op, TypeA, TypeB,
              typename void_of<decltype(declare<Op&>()(declare<TypeA>(), declare<TypeB>()))>::type> {
  using found = bare<decltype(declare<Op&>()(declare<TypeA>(), declare<TypeB>()))>;
  using type = choose_t<__is_same(found, void), Otherwise, found>;
};
template <typename Otherwise, typename Op, typename TypeA, typename TypeB>
using result_of = typename result<Otherwise, Op, TypeA, TypeB>::type;

__GPULAB_BOTH__ constexpr unsigned int log2_of(unsigned int n) { return n <= 1 ? 0 : 1 + log2_of((n + 1) / 2); }
template <typename T>
__GPULAB_BOTH__ constexpr T divide_up(T a, T b) {
  return (a + b - 1) / b;
}
template <typename T>
__GPULAB_BOTH__ constexpr T round_up(T a, T b) {
  return divide_up(a, b) * b;
}
template <typename T>
__GPULAB_BOTH__ constexpr T least(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
__GPULAB_BOTH__ constexpr T most(T a, T b) {
  return a < b ? b : a;
}

// The element number i of what an iterator leads to.
template <typename Iterator, typename Index>
__GPULAB_BOTH__ decltype(auto) at(Iterator iterator, Index i) {
  return *(iterator + i);
}

// Limits also of the short floating-point types, which std::numeric_limits does not know.
template <typename T>
__GPULAB_BOTH__ T largest() {
  if constexpr (std::numeric_limits<T>::is_specialized) {
    return std::numeric_limits<T>::max();
  } else {
    return T(std::numeric_limits<float>::infinity());
  }
}
template <typename T>
__GPULAB_BOTH__ T lowest() {
  if constexpr (std::numeric_limits<T>::is_specialized) {
    return std::numeric_limits<T>::lowest();
  } else {
    return T(-std::numeric_limits<float>::infinity());
  }
}

// Room for a T that is not constructed.
template <typename T>
struct Room {
  alignas(T) unsigned char bytes[sizeof(T)];
  __GPULAB_MEMBER__ T& get() { return *reinterpret_cast<T*>(bytes); }
  __GPULAB_MEMBER__ const T& get() const { return *reinterpret_cast<const T*>(bytes); }
};

}  // namespace primitives
}  // namespace gpulab
