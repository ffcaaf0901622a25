// thrust::reduce, reduce_by_key.
#pragma once
#include "functional.h"
#include "transform.h"
#include "system/hip/detail/primitives.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename T, typename Operation>
T reduce(const execution_policy<Policy>& policy, Iterator first, Iterator last, T init, Operation operation) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    if (count == 0) return init;
    // The initial value comes first, as an element before the others.
    return detail::parallel::reduce<T>(
        detail::parallel::host_settings(policy.derived()), count + 1,
        [from = detail::unwrap(first), init](size_t i) -> T { return i == 0 ? init : static_cast<T>(from[i - 1]); },
        operation);
  } else {
    for (; first != last; ++first) init = operation(init, *first);
    return init;
  }
}
template <typename Policy, typename Iterator, typename T>
T reduce(const execution_policy<Policy>& policy, Iterator first, Iterator last, T init) {
  return thrust::reduce(policy, first, last, init, thrust::plus<T>());
}
template <typename Policy, typename Iterator>
iterator_value_t<Iterator> reduce(const execution_policy<Policy>& policy, Iterator first, Iterator last) {
  return thrust::reduce(policy, first, last, iterator_value_t<Iterator>());
}
template <typename Iterator>
iterator_value_t<Iterator> reduce(Iterator first, Iterator last) {
  return thrust::reduce(detail::select<Iterator>(), first, last);
}
template <typename Iterator, typename T>
T reduce(Iterator first, Iterator last, T init) {
  return thrust::reduce(detail::select<Iterator>(), first, last, init);
}
template <typename Iterator, typename T, typename Operation>
T reduce(Iterator first, Iterator last, T init, Operation operation) {
  return thrust::reduce(detail::select<Iterator>(), first, last, init, operation);
}

namespace detail {
/// A value, and how many groups have begun up to it: what scans by key join.
template <typename T>
struct grouped {
  unsigned long long groups;
  T value;
};
template <typename T, typename Operation>
struct join_grouped {
  Operation operation;
  grouped<T> operator()(const grouped<T>& a, const grouped<T>& b) {
    if (b.groups) return grouped<T>{a.groups + b.groups, b.value};
    return grouped<T>{a.groups, static_cast<T>(operation(a.value, b.value))};
  }
};
/// Whether a group of equal keys begins at an index.
template <typename Keys, typename Equal>
struct group_begins {
  Keys keys;
  Equal equal;
  bool operator()(size_t i) { return i == 0 || !equal(keys[i - 1], keys[i]); }
};
}  // namespace detail

template <typename Policy, typename Keys, typename Values, typename ToKeys, typename ToValues, typename Equal,
          typename Operation>
pair<ToKeys, ToValues> reduce_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values,
                                     ToKeys to_keys, ToValues to_values, Equal equal, Operation operation) {
  using T = iterator_value_t<Values>;
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    if (count == 0) return {to_keys, to_values};
    auto settings = detail::parallel::host_settings(policy.derived());
    detail::parallel::temporary<unsigned long long> total(settings, 1);
    auto keys = detail::unwrap(first);
    detail::group_begins<decltype(keys), Equal> begins{keys, equal};
    detail::parallel::scan<detail::grouped<T>>(
        settings, count,
        [from = detail::unwrap(values), begins](size_t i) mutable {
          return detail::grouped<T>{begins(i) ? 1ull : 0ull, static_cast<T>(from[i])};
        },
        detail::join_grouped<T, Operation>{operation},
        [keys, begins, count, found = total.get(), key_out = detail::unwrap(to_keys),
         value_out = detail::unwrap(to_values)](size_t i, bool has_before, const detail::grouped<T>& before,
                                                const detail::grouped<T>& sum) mutable {
          size_t group = static_cast<size_t>(sum.groups) - 1;
          if (!has_before || before.groups != sum.groups) key_out[group] = keys[i];
          if (i + 1 == count || begins(i + 1)) value_out[group] = sum.value;
          if (i + 1 == count) *found = sum.groups;
        });
    auto groups = static_cast<ptrdiff_t>(total.read());
    return {to_keys + groups, to_values + groups};
  } else {
    while (first != last) {
      iterator_value_t<Keys> key = *first;
      T sum = *values;
      for (++first, ++values; first != last && equal(key, *first); ++first, ++values) sum = operation(sum, *values);
      *to_keys = key;
      *to_values = sum;
      ++to_keys;
      ++to_values;
    }
    return {to_keys, to_values};
  }
}
template <typename Policy, typename Keys, typename Values, typename ToKeys, typename ToValues, typename Equal>
pair<ToKeys, ToValues> reduce_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values,
                                     ToKeys to_keys, ToValues to_values, Equal equal) {
  return thrust::reduce_by_key(policy, first, last, values, to_keys, to_values, equal,
                               thrust::plus<iterator_value_t<Values>>());
}
template <typename Policy, typename Keys, typename Values, typename ToKeys, typename ToValues>
pair<ToKeys, ToValues> reduce_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values,
                                     ToKeys to_keys, ToValues to_values) {
  return thrust::reduce_by_key(policy, first, last, values, to_keys, to_values, thrust::equal_to<>());
}
template <typename Keys, typename Values, typename ToKeys, typename ToValues, typename Equal, typename Operation>
pair<ToKeys, ToValues> reduce_by_key(Keys first, Keys last, Values values, ToKeys to_keys, ToValues to_values,
                                     Equal equal, Operation operation) {
  return thrust::reduce_by_key(detail::select<Keys, Values, ToKeys, ToValues>(), first, last, values, to_keys,
                               to_values, equal, operation);
}
template <typename Keys, typename Values, typename ToKeys, typename ToValues, typename Equal>
pair<ToKeys, ToValues> reduce_by_key(Keys first, Keys last, Values values, ToKeys to_keys, ToValues to_values,
                                     Equal equal) {
  return thrust::reduce_by_key(detail::select<Keys, Values, ToKeys, ToValues>(), first, last, values, to_keys,
                               to_values, equal);
}
template <typename Keys, typename Values, typename ToKeys, typename ToValues>
pair<ToKeys, ToValues> reduce_by_key(Keys first, Keys last, Values values, ToKeys to_keys, ToValues to_values) {
  return thrust::reduce_by_key(detail::select<Keys, Values, ToKeys, ToValues>(), first, last, values, to_keys,
                               to_values);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
