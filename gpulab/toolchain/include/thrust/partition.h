// thrust::partition, stable_partition, both also as copies; is_partitioned, partition_point. All of them are stable.
#pragma once
#include "find.h"
#include "remove.h"

namespace thrust::detail {
template <typename Iterator, typename Keep>
__host__ size_t partition_on_device(const parallel::stream_policy& policy, Iterator first, size_t count, Keep keep) {
  using T = iterator_value_t<Iterator>;
  if (count == 0) return 0;
  parallel::temporary<T> kept(policy, count);  // those that pass from the beginning on, the others from the end
  size_t found = parallel::compact(
      policy, count, keep,
      [from = unwrap(first), to = kept.get()] __device__(size_t i, size_t place) mutable { to[place] = from[i]; },
      [from = unwrap(first), to = kept.get(), count] __device__(size_t i, size_t place) mutable {
        to[count - 1 - place] = from[i];
      });
  parallel::stream_policy waiting = policy;
  waiting.waits = true;
  parallel::launched_from_the_host_only(
      waiting, count, [to = unwrap(first), from = kept.get(), found, count] __device__(size_t i) mutable {
        to[i] = from[i < found ? i : count - 1 - (i - found)];
      });
  parallel::finish(waiting);
  return found;
}
/// A partition of the host, by way of a copy.
template <typename Iterator, typename Stencil, typename Predicate>
__host__ Iterator partition_on_host(Iterator first, Iterator last, Stencil stencil, Predicate predicate) {
  using T = iterator_value_t<Iterator>;
  std::vector<unsigned char> passes;
  size_t count = static_cast<size_t>(thrust::distance(first, last));
  host_buffer<T> kept(count);
  for (Iterator one = first; one != last; ++one, ++stencil) {
    passes.push_back(predicate(*stencil) ? 1 : 0);
    kept.add(*one);
  }
  Iterator to = first;
  for (size_t i = 0; i < count; ++i) {
    if (passes[i]) {
      *to = kept.begin()[i];
      ++to;
    }
  }
  Iterator end = to;
  for (size_t i = 0; i < count; ++i) {
    if (!passes[i]) {
      *to = kept.begin()[i];
      ++to;
    }
  }
  return end;
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename Iterator, typename Stencil, typename Predicate>
Iterator stable_partition(const execution_policy<Policy>& policy, Iterator first, Iterator last, Stencil stencil,
                          Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    return first + detail::partition_on_device(
                       detail::parallel::host_settings(policy.derived()), first, detail::length(first, last),
                       [tested = detail::unwrap(stencil), predicate](size_t i) mutable -> bool {
                         return predicate(tested[i]);
                       });
  } else {
    return detail::partition_on_host(first, last, stencil, predicate);
  }
}
template <typename Policy, typename Iterator, typename Predicate>
Iterator stable_partition(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
#ifdef __HIP_DEVICE_COMPILE__
  if constexpr (!detail::on_device<Policy>) {  // in a kernel, without memory: each that passes goes down to its place
    Iterator end = first;
    for (; first != last; ++first) {
      if (!predicate(*first)) continue;
      iterator_value_t<Iterator> kept = *first;
      for (Iterator one = first; one != end; --one) *one = one[-1];
      *end = kept;
      ++end;
    }
    return end;
  } else
#endif
    return thrust::stable_partition(policy, first, last, first, predicate);
}
template <typename Policy, typename From, typename Stencil, typename ToTrue, typename ToFalse, typename Predicate>
pair<ToTrue, ToFalse> stable_partition_copy(const execution_policy<Policy>& policy, From first, From last,
                                            Stencil stencil, ToTrue to_true, ToFalse to_false, Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    size_t count = detail::length(first, last);
    size_t kept = detail::parallel::compact(
        detail::parallel::host_settings(policy.derived()), count,
        [tested = detail::unwrap(stencil), predicate](size_t i) mutable -> bool { return predicate(tested[i]); },
        [from = detail::unwrap(first), to = detail::unwrap(to_true)](size_t i, size_t place) mutable {
          to[place] = from[i];
        },
        [from = detail::unwrap(first), to = detail::unwrap(to_false)](size_t i, size_t place) mutable {
          to[place] = from[i];
        });
    return {to_true + kept, to_false + (count - kept)};
  } else {
    for (; first != last; ++first, ++stencil) {
      if (predicate(*stencil)) {
        *to_true = *first;
        ++to_true;
      } else {
        *to_false = *first;
        ++to_false;
      }
    }
    return {to_true, to_false};
  }
}
template <typename Policy, typename From, typename ToTrue, typename ToFalse, typename Predicate>
pair<ToTrue, ToFalse> stable_partition_copy(const execution_policy<Policy>& policy, From first, From last,
                                            ToTrue to_true, ToFalse to_false, Predicate predicate) {
  return thrust::stable_partition_copy(policy, first, last, first, to_true, to_false, predicate);
}
template <typename Policy, typename Iterator, typename Predicate>
Iterator partition_point(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  return thrust::find_if_not(policy, first, last, predicate);
}
template <typename Policy, typename Iterator, typename Predicate>
bool is_partitioned(const execution_policy<Policy>& policy, Iterator first, Iterator last, Predicate predicate) {
  Iterator end = thrust::find_if_not(policy, first, last, predicate);
  return thrust::find_if(policy, end, last, predicate) == last;
}
template <typename Policy, typename... A>
auto partition(const execution_policy<Policy>& policy, A... a) {
  return thrust::stable_partition(policy, a...);
}
template <typename Policy, typename... A>
auto partition_copy(const execution_policy<Policy>& policy, A... a) {
  return thrust::stable_partition_copy(policy, a...);
}
#define THRUST_DETAIL_PARTITION(name)                                                                          \
  template <typename Iterator, typename Predicate>                                                             \
  Iterator name(Iterator first, Iterator last, Predicate predicate) {                                          \
    return thrust::stable_partition(detail::select<Iterator>(), first, last, predicate);                       \
  }                                                                                                            \
  template <typename Iterator, typename Stencil, typename Predicate>                                           \
  Iterator name(Iterator first, Iterator last, Stencil stencil, Predicate predicate) {                         \
    return thrust::stable_partition(detail::select<Iterator, Stencil>(), first, last, stencil, predicate);     \
  }                                                                                                            \
  template <typename From, typename ToTrue, typename ToFalse, typename Predicate>                              \
  pair<ToTrue, ToFalse> name##_copy(From first, From last, ToTrue to_true, ToFalse to_false,                   \
                                    Predicate predicate) {                                                     \
    return thrust::stable_partition_copy(detail::select<From, ToTrue, ToFalse>(), first, last, first, to_true, \
                                         to_false, predicate);                                                 \
  }                                                                                                            \
  template <typename From, typename Stencil, typename ToTrue, typename ToFalse, typename Predicate>            \
  pair<ToTrue, ToFalse> name##_copy(From first, From last, Stencil stencil, ToTrue to_true, ToFalse to_false,  \
                                    Predicate predicate) {                                                     \
    return thrust::stable_partition_copy(detail::select<From, Stencil, ToTrue, ToFalse>(), first, last,        \
                                         stencil, to_true, to_false, predicate);                               \
  }
THRUST_DETAIL_PARTITION(partition)
THRUST_DETAIL_PARTITION(stable_partition)
#undef THRUST_DETAIL_PARTITION
template <typename Iterator, typename Predicate>
Iterator partition_point(Iterator first, Iterator last, Predicate predicate) {
  return thrust::partition_point(detail::select<Iterator>(), first, last, predicate);
}
template <typename Iterator, typename Predicate>
bool is_partitioned(Iterator first, Iterator last, Predicate predicate) {
  return thrust::is_partitioned(detail::select<Iterator>(), first, last, predicate);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
