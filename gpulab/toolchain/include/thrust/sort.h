// thrust::sort, stable_sort, both by key; is_sorted, is_sorted_until.
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <algorithm>

#include "extrema.h"
#include "find.h"
#include "functional.h"
#include "system/hip/detail/sort.h"

namespace thrust::detail {
/// A stable sort of the host, by way of copies where the elements are not plain.
template <typename Keys, typename Less>
__host__ void sort_on_host(Keys first, size_t count, Less less) {
  using T = iterator_value_t<Keys>;
  if constexpr (is_contiguous<Keys>) {
    if (count == 0) return;
    auto* from = address_of(first);
    std::stable_sort(from, from + count, less);
  } else {
    host_buffer<T> kept(count);
    Keys one = first;
    for (size_t i = 0; i < count; ++i, ++one) kept.add(*one);
    std::stable_sort(kept.begin(), kept.end(), less);
    for (size_t i = 0; i < count; ++i, ++first) *first = kept.begin()[i];
  }
}
template <typename Keys, typename Values, typename Less>
__host__ void sort_by_key_on_host(Keys first, size_t count, Values values, Less less) {
  host_buffer<iterator_value_t<Keys>> keys(count);
  host_buffer<iterator_value_t<Values>> kept(count);
  std::vector<size_t> order(count);
  Keys key = first;
  Values value = values;
  for (size_t i = 0; i < count; ++i, ++key, ++value) {
    keys.add(*key);
    kept.add(*value);
    order[i] = i;
  }
  auto* sorted = keys.begin();
  std::stable_sort(order.begin(), order.end(),
                   [sorted, &less](size_t a, size_t b) { return less(sorted[a], sorted[b]); });
  for (size_t i : order) {
    *first = sorted[i];
    *values = kept.begin()[i];
    ++first;
    ++values;
  }
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
// In a kernel, without memory. Insertion sort is stable, heap sort is quick.
template <typename Keys, typename Values, typename Less>
void insertion_sort(Keys keys, size_t count, Values values, Less less) {
  for (size_t i = 1; i < count; ++i) {
    iterator_value_t<Keys> key = keys[i];
    iterator_value_t<Values> value = values[i];
    size_t place = i;
    for (; place > 0 && less(key, keys[place - 1]); --place) {
      keys[place] = keys[place - 1];
      values[place] = values[place - 1];
    }
    keys[place] = key;
    values[place] = value;
  }
}
template <typename Keys, typename Less>
void insertion_sort(Keys keys, size_t count, Less less) {
  for (size_t i = 1; i < count; ++i) {
    iterator_value_t<Keys> key = keys[i];
    size_t place = i;
    for (; place > 0 && less(key, keys[place - 1]); --place) keys[place] = keys[place - 1];
    keys[place] = key;
  }
}
template <typename Keys, typename Less>
void heap_sort(Keys keys, size_t count, Less less) {
  using T = iterator_value_t<Keys>;
  for (size_t step = count / 2 + count - 1; step > 0; --step) {
    // The first count / 2 steps make a heap; each of the others takes the greatest away.
    bool making = step >= count;
    size_t end = making ? count : step;
    size_t hole = making ? step - count : 0;
    T moved = keys[making ? hole : end];
    if (!making) keys[end] = keys[0];
    for (size_t child; (child = 2 * hole + 1) < end; hole = child) {
      if (child + 1 < end && less(keys[child], keys[child + 1])) ++child;
      if (!less(moved, keys[child])) break;
      keys[hole] = keys[child];
    }
    keys[hole] = moved;
  }
}
template <bool stable, typename Policy, typename Keys, typename Less>
void sort_keys(const execution_policy<Policy>& policy, Keys first, Keys last, Less less) {
  if constexpr (on_device<Policy>) {
    parallel::sort(parallel::host_settings(policy.derived()), unwrap(first),
                   static_cast<parallel::core::NoValues*>(nullptr), length(first, last), less);
  } else {
    size_t count = static_cast<size_t>(thrust::distance(first, last));
#ifdef __HIP_DEVICE_COMPILE__
    if (stable || count <= 32)
      insertion_sort(first, count, less);
    else
      heap_sort(first, count, less);
#else
    sort_on_host(first, count, less);
#endif
  }
}
}  // namespace detail
template <typename Policy, typename Keys, typename Less>
void sort(const execution_policy<Policy>& policy, Keys first, Keys last, Less less) {
  detail::sort_keys<false>(policy, first, last, less);
}
template <typename Policy, typename Keys, typename Less>
void stable_sort(const execution_policy<Policy>& policy, Keys first, Keys last, Less less) {
  detail::sort_keys<true>(policy, first, last, less);
}
template <typename Policy, typename Keys, typename Values, typename Less>
void stable_sort_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, Less less) {
  if constexpr (detail::on_device<Policy>) {
    detail::parallel::sort(detail::parallel::host_settings(policy.derived()), detail::unwrap(first),
                           detail::unwrap(values), detail::length(first, last), less);
  } else {
    size_t count = static_cast<size_t>(thrust::distance(first, last));
#ifdef __HIP_DEVICE_COMPILE__
    detail::insertion_sort(first, count, values, less);
#else
    detail::sort_by_key_on_host(first, count, values, less);
#endif
  }
}
template <typename Policy, typename Keys, typename Values, typename Less>
void sort_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, Less less) {
  thrust::stable_sort_by_key(policy, first, last, values, less);
}
#define THRUST_DETAIL_SORT(name)                                                                                    \
  template <typename Policy, typename Keys>                                                                         \
  void name(const execution_policy<Policy>& policy, Keys first, Keys last) {                                        \
    thrust::name(policy, first, last, thrust::less<iterator_value_t<Keys>>());                                      \
  }                                                                                                                 \
  template <typename Policy, typename Keys, typename Values>                                                        \
  void name##_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values) {                \
    thrust::name##_by_key(policy, first, last, values, thrust::less<iterator_value_t<Keys>>());                     \
  }                                                                                                                 \
  template <typename Keys>                                                                                          \
  void name(Keys first, Keys last) {                                                                                \
    thrust::name(detail::select<Keys>(), first, last);                                                              \
  }                                                                                                                 \
  template <typename Keys, typename Less>                                                                           \
  void name(Keys first, Keys last, Less less) {                                                                     \
    thrust::name(detail::select<Keys>(), first, last, less);                                                        \
  }                                                                                                                 \
  template <typename Keys, typename Values>                                                                         \
  void name##_by_key(Keys first, Keys last, Values values) {                                                        \
    thrust::name##_by_key(detail::select<Keys, Values>(), first, last, values);                                     \
  }                                                                                                                 \
  template <typename Keys, typename Values, typename Less>                                                          \
  void name##_by_key(Keys first, Keys last, Values values, Less less) {                                             \
    thrust::name##_by_key(detail::select<Keys, Values>(), first, last, values, less);                               \
  }
THRUST_DETAIL_SORT(sort)
THRUST_DETAIL_SORT(stable_sort)
#undef THRUST_DETAIL_SORT

template <typename Policy, typename Iterator, typename Less>
Iterator is_sorted_until(const execution_policy<Policy>& policy, Iterator first, Iterator last, Less less) {
  if constexpr (detail::on_device<Policy>) {
    return first + detail::first_index(policy, detail::length(first, last),
                                       [from = detail::unwrap(first), less](size_t i) mutable -> bool {
                                         return i > 0 && less(from[i], from[i - 1]);
                                       });
  } else {
    if (first == last) return last;
    Iterator before = first;
    for (++first; first != last && !less(*first, *before); ++first) before = first;
    return first;
  }
}
template <typename Policy, typename Iterator>
Iterator is_sorted_until(const execution_policy<Policy>& policy, Iterator first, Iterator last) {
  return thrust::is_sorted_until(policy, first, last, thrust::less<iterator_value_t<Iterator>>());
}
template <typename Policy, typename Iterator>
bool is_sorted(const execution_policy<Policy>& policy, Iterator first, Iterator last) {
  return thrust::is_sorted_until(policy, first, last) == last;
}
template <typename Policy, typename Iterator, typename Less>
bool is_sorted(const execution_policy<Policy>& policy, Iterator first, Iterator last, Less less) {
  return thrust::is_sorted_until(policy, first, last, less) == last;
}
template <typename Iterator>
Iterator is_sorted_until(Iterator first, Iterator last) {
  return thrust::is_sorted_until(detail::select<Iterator>(), first, last);
}
template <typename Iterator, typename Less>
Iterator is_sorted_until(Iterator first, Iterator last, Less less) {
  return thrust::is_sorted_until(detail::select<Iterator>(), first, last, less);
}
template <typename Iterator>
bool is_sorted(Iterator first, Iterator last) {
  return thrust::is_sorted(detail::select<Iterator>(), first, last);
}
template <typename Iterator, typename Less>
bool is_sorted(Iterator first, Iterator last, Less less) {
  return thrust::is_sorted(detail::select<Iterator>(), first, last, less);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
