// thrust::inclusive_scan, exclusive_scan, and both by key. Input and output may be the same.
#pragma once
#include "reduce.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
/// Scans function(element) for the algorithms with and without a function. T is the type of the sums.
template <typename T, typename Policy, typename From, typename To, typename Function, typename Operation>
To scan_inclusive(const execution_policy<Policy>& policy, From first, From last, To result, Function function,
                  Operation operation) {
  if constexpr (on_device<Policy>) {
    auto settings = parallel::host_settings(policy.derived());
    size_t count = length(first, last);
    parallel::scan<T>(
        settings, count,
        [from = unwrap(first), function](size_t i) mutable { return static_cast<T>(function(from[i])); }, operation,
        [to = unwrap(result)](size_t i, bool, const T&, const T& sum) mutable { to[i] = sum; });
    parallel::finish(settings);
    return result + count;
  } else {
    if (first == last) return result;
    T sum = function(*first);
    *result = sum;
    for (++first, ++result; first != last; ++first, ++result) {
      sum = operation(sum, function(*first));
      *result = sum;
    }
    return result;
  }
}
template <typename Policy, typename From, typename To, typename Function, typename T, typename Operation>
To scan_exclusive(const execution_policy<Policy>& policy, From first, From last, To result, Function function, T init,
                  Operation operation, bool with_own = false) {
  if constexpr (on_device<Policy>) {
    auto settings = parallel::host_settings(policy.derived());
    size_t count = length(first, last);
    parallel::scan<T>(
        settings, count,
        [from = unwrap(first), function](size_t i) mutable { return static_cast<T>(function(from[i])); }, operation,
        [to = unwrap(result), operation, init, with_own](size_t i, bool has_before, const T& before,
                                                         const T& sum) mutable {
          if (with_own)
            to[i] = operation(init, sum);
          else
            to[i] = has_before ? static_cast<T>(operation(init, before)) : init;
        });
    parallel::finish(settings);
    return result + count;
  } else {
    for (; first != last; ++first, ++result) {
      T next = operation(init, function(*first));
      *result = with_own ? next : init;
      init = next;
    }
    return result;
  }
}
template <typename T>
struct as_is {
  template <typename U>
  T operator()(const U& value) const {
    return static_cast<T>(value);
  }
};
}  // namespace detail

template <typename Policy, typename From, typename To, typename Operation>
To inclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result, Operation operation) {
  using T = iterator_value_t<From>;
  return detail::scan_inclusive<T>(policy, first, last, result, detail::as_is<T>(), operation);
}
template <typename Policy, typename From, typename To>
To inclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result) {
  return thrust::inclusive_scan(policy, first, last, result, thrust::plus<>());
}
template <typename Policy, typename From, typename To, typename T, typename Operation>
To inclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result, T init,
                  Operation operation) {
  return detail::scan_exclusive(policy, first, last, result, detail::as_is<T>(), init, operation, true);
}
template <typename Policy, typename From, typename To, typename T, typename Operation>
To exclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result, T init,
                  Operation operation) {
  return detail::scan_exclusive(policy, first, last, result, detail::as_is<T>(), init, operation);
}
template <typename Policy, typename From, typename To, typename T>
To exclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result, T init) {
  return thrust::exclusive_scan(policy, first, last, result, init, thrust::plus<>());
}
template <typename Policy, typename From, typename To>
To exclusive_scan(const execution_policy<Policy>& policy, From first, From last, To result) {
  return thrust::exclusive_scan(policy, first, last, result, iterator_value_t<From>(0));
}
template <typename From, typename To>
To inclusive_scan(From first, From last, To result) {
  return thrust::inclusive_scan(detail::select<From, To>(), first, last, result);
}
template <typename From, typename To, typename Operation>
To inclusive_scan(From first, From last, To result, Operation operation) {
  return thrust::inclusive_scan(detail::select<From, To>(), first, last, result, operation);
}
template <typename From, typename To, typename T, typename Operation>
To inclusive_scan(From first, From last, To result, T init, Operation operation) {
  return thrust::inclusive_scan(detail::select<From, To>(), first, last, result, init, operation);
}
template <typename From, typename To>
To exclusive_scan(From first, From last, To result) {
  return thrust::exclusive_scan(detail::select<From, To>(), first, last, result);
}
template <typename From, typename To, typename T>
To exclusive_scan(From first, From last, To result, T init) {
  return thrust::exclusive_scan(detail::select<From, To>(), first, last, result, init);
}
template <typename From, typename To, typename T, typename Operation>
To exclusive_scan(From first, From last, To result, T init, Operation operation) {
  return thrust::exclusive_scan(detail::select<From, To>(), first, last, result, init, operation);
}

// By key: a new sum at the first of each group of equal keys.
template <typename Policy, typename Keys, typename Values, typename To, typename Equal, typename Operation>
To inclusive_scan_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, To result,
                         Equal equal, Operation operation) {
  using T = iterator_value_t<Values>;
  if constexpr (detail::on_device<Policy>) {
    auto settings = detail::parallel::host_settings(policy.derived());
    size_t count = detail::length(first, last);
    auto keys = detail::unwrap(first);
    detail::group_begins<decltype(keys), Equal> begins{keys, equal};
    detail::parallel::scan<detail::grouped<T>>(
        settings, count,
        [from = detail::unwrap(values), begins](size_t i) mutable {
          return detail::grouped<T>{begins(i) ? 1ull : 0ull, static_cast<T>(from[i])};
        },
        detail::join_grouped<T, Operation>{operation},
        [to = detail::unwrap(result)](size_t i, bool, const detail::grouped<T>&,
                                      const detail::grouped<T>& sum) mutable { to[i] = sum.value; });
    detail::parallel::finish(settings);
    return result + count;
  } else {
    if (first == last) return result;
    iterator_value_t<Keys> key = *first;
    T sum = *values;
    *result = sum;
    for (++first, ++values, ++result; first != last; ++first, ++values, ++result) {
      iterator_value_t<Keys> next = *first;
      T value = *values;
      sum = equal(key, next) ? static_cast<T>(operation(sum, value)) : value;
      key = next;
      *result = sum;
    }
    return result;
  }
}
template <typename Policy, typename Keys, typename Values, typename To, typename T, typename Equal, typename Operation>
To exclusive_scan_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, To result,
                         T init, Equal equal, Operation operation) {
  if constexpr (detail::on_device<Policy>) {
    auto settings = detail::parallel::host_settings(policy.derived());
    size_t count = detail::length(first, last);
    auto keys = detail::unwrap(first);
    detail::group_begins<decltype(keys), Equal> begins{keys, equal};
    detail::parallel::scan<detail::grouped<T>>(
        settings, count,
        [from = detail::unwrap(values), begins](size_t i) mutable {
          return detail::grouped<T>{begins(i) ? 1ull : 0ull, static_cast<T>(from[i])};
        },
        detail::join_grouped<T, Operation>{operation},
        [to = detail::unwrap(result), init, operation](size_t i, bool has_before, const detail::grouped<T>& before,
                                                       const detail::grouped<T>& sum) mutable {
          bool inside = has_before && before.groups == sum.groups;
          to[i] = inside ? static_cast<T>(operation(init, before.value)) : init;
        });
    detail::parallel::finish(settings);
    return result + count;
  } else {
    if (first == last) return result;
    iterator_value_t<Keys> key = *first;
    T sum = init;
    for (; first != last; ++first, ++values, ++result) {
      iterator_value_t<Keys> next = *first;
      if (!equal(key, next)) sum = init;
      key = next;
      T following = operation(sum, *values);
      *result = sum;
      sum = following;
    }
    return result;
  }
}
template <typename Policy, typename Keys, typename Values, typename To, typename Equal>
To inclusive_scan_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, To result,
                         Equal equal) {
  return thrust::inclusive_scan_by_key(policy, first, last, values, result, equal, thrust::plus<>());
}
template <typename Policy, typename Keys, typename Values, typename To>
To inclusive_scan_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, To result) {
  return thrust::inclusive_scan_by_key(policy, first, last, values, result, thrust::equal_to<>());
}
template <typename Policy, typename Keys, typename Values, typename To, typename T, typename Equal>
To exclusive_scan_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, To result,
                         T init, Equal equal) {
  return thrust::exclusive_scan_by_key(policy, first, last, values, result, init, equal, thrust::plus<>());
}
template <typename Policy, typename Keys, typename Values, typename To, typename T>
To exclusive_scan_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, To result,
                         T init) {
  return thrust::exclusive_scan_by_key(policy, first, last, values, result, init, thrust::equal_to<>());
}
template <typename Policy, typename Keys, typename Values, typename To>
To exclusive_scan_by_key(const execution_policy<Policy>& policy, Keys first, Keys last, Values values, To result) {
  return thrust::exclusive_scan_by_key(policy, first, last, values, result, iterator_value_t<Values>(0));
}
template <typename Keys, typename Values, typename To, typename... More>
std::enable_if_t<!detail::is_policy<Keys>, To> inclusive_scan_by_key(Keys first, Keys last, Values values, To result,
                                                                     More... more) {
  return thrust::inclusive_scan_by_key(detail::select<Keys, Values, To>(), first, last, values, result, more...);
}
template <typename Keys, typename Values, typename To, typename... More>
std::enable_if_t<!detail::is_policy<Keys>, To> exclusive_scan_by_key(Keys first, Keys last, Values values, To result,
                                                                     More... more) {
  return thrust::exclusive_scan_by_key(detail::select<Keys, Values, To>(), first, last, values, result, more...);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
