// thrust::set_union, set_intersection, set_difference, set_symmetric_difference, each also by key, of sorted ranges.
// Of m equal elements in the first range and n in the second, as in std::, the union has max(m, n), the intersection
// min(m, n), the difference the last m - n of the first, the symmetric difference the last of whichever has more.
#pragma once
#include "binary_search.h"
#include "iterator/discard_iterator.h"
#include "iterator/constant_iterator.h"
#include "merge.h"

#pragma clang force_cuda_host_device begin
namespace thrust::detail {
/// Whether element i of a sorted range stays, given the other range: its twin there, or having none, decides.
template <bool with_twin, bool without_twin, typename Own, typename Other, typename Less>
struct stays {
  Own own;
  size_t own_count;
  Other other;
  size_t other_count;
  Less less;
  bool operator()(size_t i) {
    if constexpr (with_twin == without_twin) return with_twin;
    const iterator_value_t<Own> value = own[i];
    size_t rank = i - find_lower::in(own, own_count, value, less);
    size_t others = find_upper::in(other, other_count, value, less) - find_lower::in(other, other_count, value, less);
    return rank < others ? with_twin : without_twin;
  }
};
}  // namespace thrust::detail
#pragma clang force_cuda_host_device end

namespace thrust::detail {
template <bool both, bool only_a, bool only_b, typename A, typename B, typename AValues, typename BValues, typename To,
          typename ToValues, typename Less>
__host__ size_t set_on_device(const parallel::stream_policy& policy, A a, size_t a_count, B b, size_t b_count,
                              AValues a_values, BValues b_values, To to, ToValues to_values, Less less) {
  auto put = [](auto keys, auto values, auto key_out, auto value_out) {
    return [=] __device__(size_t i, size_t place) mutable {
      key_out[place] = keys[i];
      value_out[place] = values[i];
    };
  };
  stays<both, only_a, A, B, Less> of_a{a, a_count, b, b_count, less};
  if constexpr (!only_b) {
    return parallel::compact(policy, a_count, of_a, put(a, a_values, to, to_values), parallel::leave_out());
  } else {
    using Key = iterator_value_t<A>;
    using Value = typename std::iterator_traits<AValues>::value_type;
    stays<false, only_b, B, A, Less> of_b{b, b_count, a, a_count, less};
    parallel::stream_policy waiting = policy;
    waiting.waits = true;
    parallel::temporary<Key> keys(policy, a_count + b_count);
    parallel::temporary<Value> values(policy, a_count + b_count);
    size_t from_a = parallel::compact(policy, a_count, of_a, put(a, a_values, keys.get(), values.get()),
                                      parallel::leave_out());
    size_t from_b = parallel::compact(policy, b_count, of_b,
                                      put(b, b_values, keys.get() + from_a, values.get() + from_a),
                                      parallel::leave_out());
    merge_on_device(waiting, static_cast<const Key*>(keys.get()), from_a,
                    static_cast<const Key*>(keys.get()) + from_a, from_b, to, static_cast<const Value*>(values.get()),
                    static_cast<const Value*>(values.get()) + from_a, to_values, less);
    return from_a + from_b;
  }
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <bool both, bool only_a, bool only_b, typename Policy, typename A, typename B, typename AValues,
          typename BValues, typename To, typename ToValues, typename Less>
pair<To, ToValues> set_operation(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, AValues a_values,
                                 BValues b_values, To to, ToValues to_values, Less less) {
  if constexpr (on_device<Policy>) {
    size_t found = set_on_device<both, only_a, only_b>(
        parallel::host_settings(policy.derived()), unwrap(a), length(a, a_end), unwrap(b), length(b, b_end),
        unwrap(a_values), unwrap(b_values), unwrap(to), unwrap(to_values), less);
    return {to + static_cast<ptrdiff_t>(found), to_values + static_cast<ptrdiff_t>(found)};
  } else {
    while (a != a_end || b != b_end) {
      bool a_first = a != a_end && (b == b_end || less(*a, *b));
      bool b_first = !a_first && (a == a_end || less(*b, *a));
      if (a_first ? only_a : !b_first && both) {
        *to = *a;
        *to_values = *a_values;
        ++to;
        ++to_values;
      } else if (b_first && only_b) {
        *to = *b;
        *to_values = *b_values;
        ++to;
        ++to_values;
      }
      if (!b_first) {
        ++a;
        ++a_values;
      }
      if (!a_first) {
        ++b;
        ++b_values;
      }
    }
    return {to, to_values};
  }
}
using no_value = constant_iterator<char>;
}  // namespace detail

#define THRUST_DETAIL_SET(name, both, only_a, only_b)                                                                  \
  template <typename Policy, typename A, typename B, typename To, typename Less>                                       \
  To name(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, To result, Less less) {                  \
    return detail::set_operation<both, only_a, only_b>(policy, a, a_end, b, b_end, detail::no_value(),                 \
                                                       detail::no_value(), result, discard_iterator<>(), less)         \
        .first;                                                                                                        \
  }                                                                                                                    \
  template <typename Policy, typename A, typename B, typename To>                                                      \
  To name(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, To result) {                             \
    return thrust::name(policy, a, a_end, b, b_end, result, thrust::less<>());                                         \
  }                                                                                                                    \
  template <typename A, typename B, typename To>                                                                       \
  To name(A a, A a_end, B b, B b_end, To result) {                                                                     \
    return thrust::name(detail::select<A, B, To>(), a, a_end, b, b_end, result);                                       \
  }                                                                                                                    \
  template <typename A, typename B, typename To, typename Less>                                                        \
  To name(A a, A a_end, B b, B b_end, To result, Less less) {                                                          \
    return thrust::name(detail::select<A, B, To>(), a, a_end, b, b_end, result, less);                                 \
  }
#define THRUST_DETAIL_SET_BY_KEY(name, both, only_a, only_b)                                                           \
  template <typename Policy, typename A, typename B, typename AValues, typename BValues, typename To,                  \
            typename ToValues, typename Less>                                                                          \
  pair<To, ToValues> name(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, AValues a_values,        \
                          BValues b_values, To result, ToValues result_values, Less less) {                            \
    return detail::set_operation<both, only_a, only_b>(policy, a, a_end, b, b_end, a_values, b_values, result,         \
                                                       result_values, less);                                           \
  }                                                                                                                    \
  template <typename Policy, typename A, typename B, typename AValues, typename BValues, typename To,                  \
            typename ToValues>                                                                                         \
  pair<To, ToValues> name(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end, AValues a_values,        \
                          BValues b_values, To result, ToValues result_values) {                                       \
    return thrust::name(policy, a, a_end, b, b_end, a_values, b_values, result, result_values, thrust::less<>());      \
  }                                                                                                                    \
  template <typename A, typename B, typename AValues, typename BValues, typename To, typename ToValues>                \
  pair<To, ToValues> name(A a, A a_end, B b, B b_end, AValues a_values, BValues b_values, To result,                   \
                          ToValues result_values) {                                                                    \
    return thrust::name(detail::select<A, B, AValues, BValues, To, ToValues>(), a, a_end, b, b_end, a_values,          \
                        b_values, result, result_values);                                                              \
  }                                                                                                                    \
  template <typename A, typename B, typename AValues, typename BValues, typename To, typename ToValues, typename Less> \
  pair<To, ToValues> name(A a, A a_end, B b, B b_end, AValues a_values, BValues b_values, To result,                   \
                          ToValues result_values, Less less) {                                                         \
    return thrust::name(detail::select<A, B, AValues, BValues, To, ToValues>(), a, a_end, b, b_end, a_values,          \
                        b_values, result, result_values, less);                                                        \
  }
THRUST_DETAIL_SET(set_union, true, true, true)
THRUST_DETAIL_SET(set_intersection, true, false, false)
THRUST_DETAIL_SET(set_difference, false, true, false)
THRUST_DETAIL_SET(set_symmetric_difference, false, true, true)
THRUST_DETAIL_SET_BY_KEY(set_union_by_key, true, true, true)
THRUST_DETAIL_SET_BY_KEY(set_difference_by_key, false, true, false)
THRUST_DETAIL_SET_BY_KEY(set_symmetric_difference_by_key, false, true, true)
#undef THRUST_DETAIL_SET
#undef THRUST_DETAIL_SET_BY_KEY

// An intersection has values of the first range alone.
template <typename Policy, typename A, typename B, typename Values, typename To, typename ToValues, typename Less>
pair<To, ToValues> set_intersection_by_key(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end,
                                           Values values, To result, ToValues result_values, Less less) {
  return detail::set_operation<true, false, false>(policy, a, a_end, b, b_end, values, detail::no_value(), result,
                                                   result_values, less);
}
template <typename Policy, typename A, typename B, typename Values, typename To, typename ToValues>
pair<To, ToValues> set_intersection_by_key(const execution_policy<Policy>& policy, A a, A a_end, B b, B b_end,
                                           Values values, To result, ToValues result_values) {
  return thrust::set_intersection_by_key(policy, a, a_end, b, b_end, values, result, result_values, thrust::less<>());
}
template <typename A, typename B, typename Values, typename To, typename ToValues>
pair<To, ToValues> set_intersection_by_key(A a, A a_end, B b, B b_end, Values values, To result,
                                           ToValues result_values) {
  return thrust::set_intersection_by_key(detail::select<A, B, Values, To, ToValues>(), a, a_end, b, b_end, values,
                                         result, result_values);
}
template <typename A, typename B, typename Values, typename To, typename ToValues, typename Less>
pair<To, ToValues> set_intersection_by_key(A a, A a_end, B b, B b_end, Values values, To result,
                                           ToValues result_values, Less less) {
  return thrust::set_intersection_by_key(detail::select<A, B, Values, To, ToValues>(), a, a_end, b, b_end, values,
                                         result, result_values, less);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
