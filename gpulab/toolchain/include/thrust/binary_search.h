// thrust::lower_bound, upper_bound, binary_search, equal_range in a sorted range: for one value or for many.
#pragma once
#include "advance.h"
#include "functional.h"
#include "transform.h"

namespace thrust::detail {
template <typename Find, typename Iterator, typename T, typename Less>
__host__ size_t searched_by_the_device(const parallel::stream_policy& policy, Iterator first, size_t count,
                                       const T& value, Less less) {
  parallel::temporary<size_t> found(policy, 1);
  parallel::launched_from_the_host_only(
      policy, 1, [first, count, value, less, to = found.get()] __host__ __device__(size_t) mutable {
        *to = Find::in(first, count, value, less);
      });
  return found.read();
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
// What is counted: the elements before which the value could be put. The range is sorted by `less`.
struct find_lower {
  template <typename Iterator, typename T, typename Less>
  static size_t in(Iterator first, size_t count, const T& value, Less& less) {
    size_t from = 0;
    while (from < count) {
      size_t middle = from + (count - from) / 2;
      if (less(first[middle], value))
        from = middle + 1;
      else
        count = middle;
    }
    return from;
  }
};
struct find_upper {
  template <typename Iterator, typename T, typename Less>
  static size_t in(Iterator first, size_t count, const T& value, Less& less) {
    size_t from = 0;
    while (from < count) {
      size_t middle = from + (count - from) / 2;
      if (less(value, first[middle]))
        count = middle;
      else
        from = middle + 1;
    }
    return from;
  }
};
struct find_whether {
  template <typename Iterator, typename T, typename Less>
  static bool in(Iterator first, size_t count, const T& value, Less& less) {
    size_t place = find_lower::in(first, count, value, less);
    return place < count && !less(value, first[place]);
  }
};
template <typename Find, typename Policy, typename Iterator, typename T, typename Less>
size_t searched(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& value, Less less) {
  size_t count = static_cast<size_t>(thrust::distance(first, last));
  if constexpr (on_device<Policy>)
    return searched_by_the_device<Find>(parallel::host_settings(policy.derived()), unwrap(first), count, value, less);
  else
    return Find::in(first, count, value, less);
}
template <typename Find, typename Policy, typename Iterator, typename Values, typename To, typename Less>
To searched_each(const execution_policy<Policy>& policy, Iterator first, Iterator last, Values values,
                 Values values_end, To result, Less less) {
  size_t count = static_cast<size_t>(thrust::distance(first, last));
  return thrust::transform(policy, values, values_end, result,
                           [from = unwrap(first), count, less](const auto& value) mutable {
                             return Find::in(from, count, value, less);
                           });
}
}  // namespace detail

#define THRUST_DETAIL_SEARCH(name, Find, Result, result)                                                             \
  template <typename Policy, typename Iterator, typename T, typename Less>                                           \
  Result name(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& value, Less less) {    \
    auto found = detail::searched<detail::Find>(policy, first, last, value, less);                                   \
    return result;                                                                                                   \
  }                                                                                                                  \
  template <typename Policy, typename Iterator, typename T>                                                          \
  Result name(const execution_policy<Policy>& policy, Iterator first, Iterator last, const T& value) {               \
    return thrust::name(policy, first, last, value, thrust::less<>());                                               \
  }                                                                                                                  \
  template <typename Policy, typename Iterator, typename Values, typename To, typename Less>                         \
  To name(const execution_policy<Policy>& policy, Iterator first, Iterator last, Values values, Values values_end,   \
          To to, Less less) {                                                                                        \
    return detail::searched_each<detail::Find>(policy, first, last, values, values_end, to, less);                   \
  }                                                                                                                  \
  template <typename Policy, typename Iterator, typename Values, typename To>                                        \
  To name(const execution_policy<Policy>& policy, Iterator first, Iterator last, Values values, Values values_end,   \
          To to) {                                                                                                   \
    return thrust::name(policy, first, last, values, values_end, to, thrust::less<>());                              \
  }                                                                                                                  \
  template <typename Iterator, typename T>                                                                           \
  Result name(Iterator first, Iterator last, const T& value) {                                                       \
    return thrust::name(detail::select<Iterator>(), first, last, value);                                             \
  }                                                                                                                  \
  template <typename Iterator, typename T, typename Less>                                                            \
  Result name(Iterator first, Iterator last, const T& value, Less less) {                                            \
    return thrust::name(detail::select<Iterator>(), first, last, value, less);                                       \
  }                                                                                                                  \
  template <typename Iterator, typename Values, typename To>                                                         \
  To name(Iterator first, Iterator last, Values values, Values values_end, To to) {                                  \
    return thrust::name(detail::select<Iterator, Values, To>(), first, last, values, values_end, to);                \
  }                                                                                                                  \
  template <typename Iterator, typename Values, typename To, typename Less>                                          \
  To name(Iterator first, Iterator last, Values values, Values values_end, To to, Less less) {                       \
    return thrust::name(detail::select<Iterator, Values, To>(), first, last, values, values_end, to, less);          \
  }
THRUST_DETAIL_SEARCH(lower_bound, find_lower, Iterator, thrust::next(first, static_cast<ptrdiff_t>(found)))
THRUST_DETAIL_SEARCH(upper_bound, find_upper, Iterator, thrust::next(first, static_cast<ptrdiff_t>(found)))
THRUST_DETAIL_SEARCH(binary_search, find_whether, bool, found != 0)
#undef THRUST_DETAIL_SEARCH

template <typename Policy, typename Iterator, typename T, typename Less>
pair<Iterator, Iterator> equal_range(const execution_policy<Policy>& policy, Iterator first, Iterator last,
                                     const T& value, Less less) {
  return {thrust::lower_bound(policy, first, last, value, less), thrust::upper_bound(policy, first, last, value, less)};
}
template <typename Policy, typename Iterator, typename T>
pair<Iterator, Iterator> equal_range(const execution_policy<Policy>& policy, Iterator first, Iterator last,
                                     const T& value) {
  return thrust::equal_range(policy, first, last, value, thrust::less<>());
}
template <typename Iterator, typename T>
pair<Iterator, Iterator> equal_range(Iterator first, Iterator last, const T& value) {
  return thrust::equal_range(detail::select<Iterator>(), first, last, value);
}
template <typename Iterator, typename T, typename Less>
pair<Iterator, Iterator> equal_range(Iterator first, Iterator last, const T& value, Less less) {
  return thrust::equal_range(detail::select<Iterator>(), first, last, value, less);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
