// thrust::shuffle, shuffle_copy: a random order, the same on host and device for the same engine.
#pragma once
#include "gather.h"
#include "iterator/counting_iterator.h"
#include "iterator/transform_iterator.h"
#include "random.h"
#include "copy.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
/// A random place for each index: a bijection of numbers of 2 * half bits, by rounds of a Feistel network with random
/// keys; indices that fall beyond the count are mapped again.
struct permuted {
  unsigned long long count;
  unsigned int half;
  unsigned int keys[8];
  template <typename Engine>
  permuted(unsigned long long n, Engine& engine) : count(n), half(1) {
    while (half < 32 && (1ull << 2 * half) < n) ++half;
    uniform_int_distribution<unsigned int> any(0, 0xffffffffu);
    for (unsigned int& key : keys) key = any(engine);
  }
  unsigned long long operator()(unsigned long long index) const {
    unsigned long long mask = (1ull << half) - 1;
    do {
      unsigned long long left = index >> half, right = index & mask;
      for (unsigned int key : keys) {
        unsigned long long mixed = (right ^ key) * 0x9e3779b97f4a7c15ull;
        mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ull;
        unsigned long long next = left ^ ((mixed >> 32) & mask);
        left = right;
        right = next;
      }
      index = left << half | right;
    } while (index >= count);
    return index;
  }
};
}  // namespace detail
template <typename Policy, typename From, typename To, typename Engine>
To shuffle_copy(const execution_policy<Policy>& policy, From first, From last, To result, Engine&& engine) {
  auto count = thrust::distance(first, last);
  detail::permuted places(static_cast<unsigned long long>(count), engine);
  auto order = thrust::make_transform_iterator(thrust::counting_iterator<unsigned long long>(0), places);
  return thrust::gather(policy, order, order + count, first, result);
}
template <typename From, typename To, typename Engine>
To shuffle_copy(From first, From last, To result, Engine&& engine) {
  return thrust::shuffle_copy(detail::select<From, To>(), first, last, result, engine);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end

namespace thrust {
template <typename Policy, typename Iterator, typename Engine>
__host__ void shuffle(const execution_policy<Policy>& policy, Iterator first, Iterator last, Engine&& engine) {
  using T = iterator_value_t<Iterator>;
  size_t count = static_cast<size_t>(thrust::distance(first, last));
  if constexpr (detail::on_device<Policy>) {
    auto settings = detail::parallel::host_settings(policy.derived());
    settings.waits = true;
    detail::parallel::temporary<T> kept(settings, count);
    detail::copy_on_device(settings, first, count, kept.get());
    thrust::shuffle_copy(settings, static_cast<const T*>(kept.get()), static_cast<const T*>(kept.get()) + count, first,
                         engine);
  } else {
    std::vector<T> kept(first, last);
    thrust::shuffle_copy(seq, kept.begin(), kept.end(), first, engine);
  }
}
template <typename Iterator, typename Engine>
__host__ void shuffle(Iterator first, Iterator last, Engine&& engine) {
  thrust::shuffle(detail::select<Iterator>(), first, last, engine);
}
}  // namespace thrust
