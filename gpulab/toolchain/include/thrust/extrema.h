// thrust::min_element, max_element, minmax_element; min, max. Of equal elements the first counts; minmax_element's
// maximum is the last, as in std::.
#pragma once
#include "advance.h"
#include "reduce.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T, typename Less>
constexpr T min(const T& a, const T& b, Less less) {
  return less(b, a) ? b : a;
}
template <typename T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T, typename Less>
constexpr T max(const T& a, const T& b, Less less) {
  return less(a, b) ? b : a;
}

namespace detail {
template <typename T>
struct extreme {
  size_t index;
  T value;
};
template <typename T, typename Less>
struct lower {
  Less less;
  extreme<T> operator()(const extreme<T>& a, const extreme<T>& b) { return less(b.value, a.value) ? b : a; }
};
template <typename T, typename Less>
struct upper {
  Less less;
  extreme<T> operator()(const extreme<T>& a, const extreme<T>& b) { return less(a.value, b.value) ? b : a; }
};
template <typename Policy, typename Iterator, template <typename, typename> class Choice, typename Less>
Iterator extreme_element(const execution_policy<Policy>& policy, Iterator first, Iterator last, Less less) {
  using T = iterator_value_t<Iterator>;
  if constexpr (on_device<Policy>) {
    size_t count = length(first, last);
    if (count == 0) return last;
    return first + parallel::reduce<extreme<T>>(
                       parallel::host_settings(policy.derived()), count,
                       [from = unwrap(first)](size_t i) { return extreme<T>{i, static_cast<T>(from[i])}; },
                       Choice<T, Less>{less})
                       .index;
  } else {
    Iterator best = first;
    if (first == last) return last;
    Choice<T, Less> choice{less};
    for (Iterator one = thrust::next(first); one != last; ++one)
      if (choice(extreme<T>{0, static_cast<T>(*best)}, extreme<T>{1, static_cast<T>(*one)}).index) best = one;
    return best;
  }
}
}  // namespace detail

template <typename Policy, typename Iterator, typename Less>
Iterator min_element(const execution_policy<Policy>& policy, Iterator first, Iterator last, Less less) {
  return detail::extreme_element<Policy, Iterator, detail::lower>(policy, first, last, less);
}
template <typename Policy, typename Iterator, typename Less>
Iterator max_element(const execution_policy<Policy>& policy, Iterator first, Iterator last, Less less) {
  return detail::extreme_element<Policy, Iterator, detail::upper>(policy, first, last, less);
}
namespace detail {
template <typename T>
struct extremes {
  size_t least_index, greatest_index;
  T least, greatest;
};
template <typename T, typename Less>
struct join_extremes {
  Less less;
  extremes<T> operator()(const extremes<T>& a, const extremes<T>& b) {
    bool below = less(b.least, a.least);
    bool above = !less(b.greatest, a.greatest);
    return {below ? b.least_index : a.least_index, above ? b.greatest_index : a.greatest_index,
            below ? b.least : a.least, above ? b.greatest : a.greatest};
  }
};
}  // namespace detail
template <typename Policy, typename Iterator, typename Less>
pair<Iterator, Iterator> minmax_element(const execution_policy<Policy>& policy, Iterator first, Iterator last,
                                        Less less) {
  using T = iterator_value_t<Iterator>;
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    if (count == 0) return {last, last};
    auto found = detail::parallel::reduce<detail::extremes<T>>(
        detail::parallel::host_settings(policy.derived()), count,
        [from = detail::unwrap(first)](size_t i) {
          return detail::extremes<T>{i, i, static_cast<T>(from[i]), static_cast<T>(from[i])};
        },
        detail::join_extremes<T, Less>{less});
    return {first + found.least_index, first + found.greatest_index};
  } else {
    pair<Iterator, Iterator> found(first, first);
    if (first == last) return found;
    for (Iterator one = thrust::next(first); one != last; ++one) {
      if (less(*one, *found.first)) found.first = one;
      if (!less(*one, *found.second)) found.second = one;
    }
    return found;
  }
}
#define THRUST_DETAIL_EXTREME(name, Result)                                                          \
  template <typename Policy, typename Iterator>                                                      \
  Result name(const execution_policy<Policy>& policy, Iterator first, Iterator last) {               \
    return thrust::name(policy, first, last, thrust::less<iterator_value_t<Iterator>>());            \
  }                                                                                                  \
  template <typename Iterator>                                                                       \
  Result name(Iterator first, Iterator last) {                                                       \
    return thrust::name(detail::select<Iterator>(), first, last);                                    \
  }                                                                                                  \
  template <typename Iterator, typename Less>                                                        \
  Result name(Iterator first, Iterator last, Less less) {                                            \
    return thrust::name(detail::select<Iterator>(), first, last, less);                              \
  }
THRUST_DETAIL_EXTREME(min_element, Iterator)
THRUST_DETAIL_EXTREME(max_element, Iterator)
#define THRUST_DETAIL_COMMA ,
THRUST_DETAIL_EXTREME(minmax_element, pair<Iterator THRUST_DETAIL_COMMA Iterator>)
#undef THRUST_DETAIL_COMMA
#undef THRUST_DETAIL_EXTREME
}  // namespace thrust
#pragma clang force_cuda_host_device end
