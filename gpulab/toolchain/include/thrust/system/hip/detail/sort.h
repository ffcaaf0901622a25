// Sorts of the device for Thrust: radix sort of numbers by less or greater, merge sort of all else. Both are stable.
#pragma once
#include "../../../../gpulab/primitives/merge.h"
#include "../../../../gpulab/primitives/radix_sort.h"
#include "../../../copy.h"
#include "primitives.h"

namespace thrust::system::hip::detail {
template <typename Less, typename Key>
inline constexpr bool is_less = std::is_same_v<Less, thrust::less<Key>> || std::is_same_v<Less, thrust::less<>> ||
                                std::is_same_v<Less, std::less<Key>> || std::is_same_v<Less, std::less<>>;
template <typename Less, typename Key>
inline constexpr bool is_greater =
    std::is_same_v<Less, thrust::greater<Key>> || std::is_same_v<Less, thrust::greater<>> ||
    std::is_same_v<Less, std::greater<Key>> || std::is_same_v<Less, std::greater<>>;
template <typename Keys, typename Less>
inline constexpr bool by_digits =
    std::is_pointer_v<Keys> && std::is_arithmetic_v<iterator_value_t<Keys>> &&
    !std::is_same_v<iterator_value_t<Keys>, long double> &&
    (is_less<Less, iterator_value_t<Keys>> || is_greater<Less, iterator_value_t<Keys>>);

/// Sorts keys, and values beside them unless `Values` is a pointer to NoValues. The iterators are a kernel's.
template <typename Keys, typename Values, typename Less>
__host__ void sort(const stream_policy& policy, Keys keys, Values values, size_t count, Less less) {
  using Key = iterator_value_t<Keys>;
  if (count < 2) return;
  stream_policy waiting = policy;
  waiting.waits = true;
  if constexpr (by_digits<Keys, Less>) {
    using Value = typename std::iterator_traits<Values>::value_type;
    constexpr bool has_values = !std::is_same_v<Value, core::NoValues>;
    temporary<Key> other_keys(policy, count);
    temporary<Value> given_values(policy, has_values && !std::is_pointer_v<Values> ? count : 0);
    temporary<Value> other_values(policy, has_values ? count : 0);
    Value* here = nullptr;
    if constexpr (std::is_pointer_v<Values>)
      here = values;
    else
      thrust::detail::copy_on_device(policy, values, count, here = given_values.get());
    core::SortBuffers<Key, Value> buffers{keys, other_keys.get(), here, other_values.get(), true};
    with_storage(policy, [&](void* memory, size_t& bytes) {
      return core::radix_sort(memory, bytes, buffers, count, 0, sizeof(Key) * 8,
                              core::RadixKey<Key, is_greater<Less, Key>>{}, policy.stream);
    });
    if (buffers.flipped) thrust::detail::copy_on_device(policy, other_keys.get(), count, keys);
    if constexpr (has_values) {
      if (buffers.flipped || !std::is_pointer_v<Values>)
        thrust::detail::copy_on_device(policy, buffers.flipped ? other_values.get() : here, count, values);
    }
  } else {
    with_storage(policy, [&](void* memory, size_t& bytes) {
      return core::merge_sort(memory, bytes, keys, keys, values, values, count, less, policy.stream);
    });
  }
  finish(waiting);
}
}  // namespace thrust::system::hip::detail
