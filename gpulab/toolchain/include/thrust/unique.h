// thrust::unique, unique_copy, unique_by_key, unique_by_key_copy, unique_count: of equal neighbours the first.
#pragma once
#include "iterator/zip_iterator.h"
#include "reduce.h"
#include "remove.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Equal>
Iterator unique(const execution_policy<Policy>& policy, Iterator first, Iterator last, Equal equal) {
  if constexpr (detail::on_device<Policy>) {
    auto from = detail::unwrap(first);
    return first + detail::compact_in_place(detail::parallel::host_settings(policy.derived()), first,
                                            detail::length(first, last),
                                            detail::group_begins<decltype(from), Equal>{from, equal});
  } else {
    if (first == last) return last;
    Iterator end = first;
    for (++first; first != last; ++first) {
      if (!equal(*end, *first)) {
        ++end;
        if (end != first) *end = *first;
      }
    }
    return ++end;
  }
}
template <typename Policy, typename From, typename To, typename Equal>
To unique_copy(const execution_policy<Policy>& policy, From first, From last, To result, Equal equal) {
  if constexpr (detail::on_device<Policy>) {
    auto from = detail::unwrap(first);
    return result + detail::parallel::compact(detail::parallel::host_settings(policy.derived()),
                                              detail::length(first, last),
                                              detail::group_begins<decltype(from), Equal>{from, equal},
                                              [from, to = detail::unwrap(result)](size_t i, size_t place) mutable {
                                                to[place] = from[i];
                                              },
                                              detail::parallel::leave_out());
  } else {
    if (first == last) return result;
    iterator_value_t<From> kept = *first;
    *result = kept;
    ++result;
    for (++first; first != last; ++first) {
      if (!equal(kept, *first)) {
        kept = *first;
        *result = kept;
        ++result;
      }
    }
    return result;
  }
}
template <typename Policy, typename Keys, typename Values, typename ToKeys, typename ToValues, typename Equal>
pair<ToKeys, ToValues> unique_by_key_copy(const execution_policy<Policy>& policy, Keys first, Keys last, Values values,
                                          ToKeys to_keys, ToValues to_values, Equal equal) {
  if constexpr (detail::on_device<Policy>) {
    auto keys = detail::unwrap(first);
    auto kept = static_cast<ptrdiff_t>(detail::parallel::compact(
        detail::parallel::host_settings(policy.derived()), detail::length(first, last),
        detail::group_begins<decltype(keys), Equal>{keys, equal},
        [keys, from = detail::unwrap(values), key_out = detail::unwrap(to_keys),
         value_out = detail::unwrap(to_values)](size_t i, size_t place) mutable {
          key_out[place] = keys[i];
          value_out[place] = from[i];
        },
        detail::parallel::leave_out()));
    return {to_keys + kept, to_values + kept};
  } else {
    while (first != last) {
      iterator_value_t<Keys> kept = *first;
      iterator_value_t<Values> value = *values;
      *to_keys = kept;
      *to_values = value;
      ++to_keys;
      ++to_values;
      do {
        ++first;
        ++values;
      } while (first != last && equal(kept, *first));
    }
    return {to_keys, to_values};
  }
}
namespace detail {
template <typename Equal>
struct equal_keys {
  Equal equal;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) {
    return equal(thrust::get<0>(a), thrust::get<0>(b));
  }
};
}  // namespace detail
template <typename Policy, typename Keys, typename Values, typename Equal>
pair<Keys, Values> unique_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values,
                                 Equal equal) {
  if constexpr (detail::on_device<Policy>) {
    auto both = thrust::make_zip_iterator(thrust::make_tuple(first, values));
    auto end = thrust::unique(policy, both, both + thrust::distance(first, last), detail::equal_keys<Equal>{equal});
    auto kept = end - both;
    return {first + kept, values + kept};
  } else {
    return thrust::unique_by_key_copy(policy, first, last, values, first, values, equal);
  }
}
template <typename Policy, typename Iterator, typename Equal>
iterator_difference_t<Iterator> unique_count(const execution_policy<Policy>& policy, Iterator first, Iterator last,
                                             Equal equal) {
  iterator_difference_t<Iterator> groups = 0;
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    auto from = detail::unwrap(first);
    if (count != 0)
      groups = static_cast<iterator_difference_t<Iterator>>(detail::parallel::reduce<size_t>(
          detail::parallel::host_settings(policy.derived()), count,
          [begins = detail::group_begins<decltype(from), Equal>{from, equal}](size_t i) mutable -> size_t {
            return begins(i) ? 1 : 0;
          },
          thrust::plus<size_t>()));
  } else {
    if (first == last) return 0;
    Iterator before = first;
    groups = 1;
    for (++first; first != last; ++first, ++before) groups += equal(*before, *first) ? 0 : 1;
  }
  return groups;
}
template <typename Policy, typename Iterator>
Iterator unique(const execution_policy<Policy>& policy, Iterator first, Iterator last) {
  return thrust::unique(policy, first, last, thrust::equal_to<>());
}
template <typename Policy, typename From, typename To>
To unique_copy(const execution_policy<Policy>& policy, From first, From last, To result) {
  return thrust::unique_copy(policy, first, last, result, thrust::equal_to<>());
}
template <typename Policy, typename Keys, typename Values>
pair<Keys, Values> unique_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values) {
  return thrust::unique_by_key(policy, first, last, values, thrust::equal_to<>());
}
template <typename Policy, typename Keys, typename Values, typename ToKeys, typename ToValues>
pair<ToKeys, ToValues> unique_by_key_copy(const execution_policy<Policy>& policy, Keys first, Keys last, Values values,
                                          ToKeys to_keys, ToValues to_values) {
  return thrust::unique_by_key_copy(policy, first, last, values, to_keys, to_values, thrust::equal_to<>());
}
template <typename Policy, typename Iterator>
iterator_difference_t<Iterator> unique_count(const execution_policy<Policy>& policy, Iterator first, Iterator last) {
  return thrust::unique_count(policy, first, last, thrust::equal_to<>());
}
template <typename Iterator>
Iterator unique(Iterator first, Iterator last) {
  return thrust::unique(detail::select<Iterator>(), first, last);
}
template <typename Iterator, typename Equal>
Iterator unique(Iterator first, Iterator last, Equal equal) {
  return thrust::unique(detail::select<Iterator>(), first, last, equal);
}
template <typename From, typename To>
To unique_copy(From first, From last, To result) {
  return thrust::unique_copy(detail::select<From, To>(), first, last, result);
}
template <typename From, typename To, typename Equal>
To unique_copy(From first, From last, To result, Equal equal) {
  return thrust::unique_copy(detail::select<From, To>(), first, last, result, equal);
}
template <typename Keys, typename Values>
pair<Keys, Values> unique_by_key(Keys first, Keys last, Values values) {
  return thrust::unique_by_key(detail::select<Keys, Values>(), first, last, values);
}
template <typename Keys, typename Values, typename Equal>
pair<Keys, Values> unique_by_key(Keys first, Keys last, Values values, Equal equal) {
  return thrust::unique_by_key(detail::select<Keys, Values>(), first, last, values, equal);
}
template <typename Keys, typename Values, typename ToKeys, typename ToValues>
pair<ToKeys, ToValues> unique_by_key_copy(Keys first, Keys last, Values values, ToKeys to_keys, ToValues to_values) {
  return thrust::unique_by_key_copy(detail::select<Keys, Values, ToKeys, ToValues>(), first, last, values, to_keys,
                                    to_values);
}
template <typename Keys, typename Values, typename ToKeys, typename ToValues, typename Equal>
pair<ToKeys, ToValues> unique_by_key_copy(Keys first, Keys last, Values values, ToKeys to_keys, ToValues to_values,
                                          Equal equal) {
  return thrust::unique_by_key_copy(detail::select<Keys, Values, ToKeys, ToValues>(), first, last, values, to_keys,
                                    to_values, equal);
}
template <typename Iterator>
iterator_difference_t<Iterator> unique_count(Iterator first, Iterator last) {
  return thrust::unique_count(detail::select<Iterator>(), first, last);
}
template <typename Iterator, typename Equal>
iterator_difference_t<Iterator> unique_count(Iterator first, Iterator last, Equal equal) {
  return thrust::unique_count(detail::select<Iterator>(), first, last, equal);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
