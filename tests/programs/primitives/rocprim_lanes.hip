// rocPRIM's functions of lanes, bits and atomics, and its traits, by the headers of their own.
#include <rocprim/intrinsics/atomic.hpp>
#include <rocprim/intrinsics/bit.hpp>
#include <rocprim/intrinsics/thread.hpp>
#include <rocprim/intrinsics/warp.hpp>
#include <rocprim/iterator/counting_iterator.hpp>
#include <rocprim/thread/thread_search.hpp>
#include <rocprim/type_traits.hpp>
#include <rocprim/types.hpp>

#include "check.h"

static_assert(rocprim::is_floating_point<rocprim::half>::value && !std::is_floating_point<rocprim::half>::value);
static_assert(rocprim::is_integral<rocprim::int128_t>::value && rocprim::is_unsigned<rocprim::uint128_t>::value);
static_assert(rocprim::is_signed<const float>::value && !rocprim::is_unsigned<rocprim::bfloat16>::value);
static_assert(rocprim::is_compound<int*>::value && rocprim::is_scalar<int*>::value && rocprim::is_fundamental<void>());

__global__ void labels(unsigned long long* peers, unsigned int* firsts, int* votes) {
  const unsigned int i = threadIdx.x, label = i % 5;
  const auto mask = rocprim::match_any<3>(label, i % 7 != 0);
  peers[i] = mask;
  firsts[i] = rocprim::group_elect(mask);
  if (i == 3) votes[0] = 1;
  const int any = rocprim::warp_any(i == 3), all = rocprim::warp_all(i < 1000), not_all = rocprim::warp_all(i != 3);
  if (i == 0) {
    votes[1] = any != 0;
    votes[2] = all != 0;
    votes[3] = not_all != 0;
  }
}
__global__ void counts(unsigned int* words, unsigned long* longs, float* sum) {
  rocprim::atomic_add(&words[0], 1u);
  rocprim::atomic_max(&words[1], threadIdx.x);
  rocprim::atomic_min(&words[2], threadIdx.x + 5);
  rocprim::atomic_wrapinc(&words[3], 9u);
  rocprim::atomic_add(&longs[0], 1ul << 33);
  rocprim::atomic_max(&longs[1], static_cast<unsigned long>(threadIdx.x) << 40);
  rocprim::atomic_cas(&longs[2], 7ul, 8ul);
  rocprim::atomic_add(sum, 0.5f);
  if (threadIdx.x == 0) rocprim::atomic_store(&longs[3], rocprim::atomic_load(&longs[2]) + 1);
}
struct Place {
  unsigned int x, y;
};
// Rows of a sparse matrix end at these numbers of elements; on a path through row ends and elements, step by step.
__constant__ int ends[] = {2, 2, 5, 9};
__global__ void paths(Place* places, int* bounds) {
  rocprim::counting_iterator<int> elements(0);
  merge_path_search(static_cast<int>(threadIdx.x), ends, elements, 4, 9, places[threadIdx.x]);
  bounds[0] = rocprim::lower_bound(ends, 4, 2);
  bounds[1] = rocprim::upper_bound(ends, 4, 2);
}

int main() {
  int width = 0;
  HIP(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, 0));
  const unsigned int n = static_cast<unsigned int>(width);
  Device<unsigned long long> peers(n);
  Device<unsigned int> firsts(n);
  Device<int> votes(4);
  HIP(hipMemset(votes, 0, 16));
  labels<<<1, n>>>(peers, firsts, votes);
  std::vector<unsigned long long> masks(n, 0);
  std::vector<unsigned int> first(n, 0);
  for (unsigned int i = 0; i < n; ++i) {
    for (unsigned int j = 0; j < n && i % 7; ++j) masks[i] |= (j % 7 && j % 5 == i % 5 ? 1ull : 0ull) << j;
    first[i] = masks[i] && __builtin_ctzll(masks[i]) == static_cast<int>(i);
  }
  expect("match_any", peers.read(), masks);
  expect("group_elect", firsts.read(), first);
  expect("votes", votes.read(), {1, 1, 1, 0});
  Device<unsigned int> words(std::vector<unsigned int>{0, 0, 100, 0});
  Device<unsigned long> longs(std::vector<unsigned long>{0, 0, 7, 0});
  Device<float> sum(std::vector<float>{0});
  counts<<<1, 64>>>(words, longs, sum);
  expect("atomics of 32 bits", words.read(), {64, 63, 5, 4});
  expect("atomics of 64 bits", longs.read(), {64ul << 33, 63ul << 40, 8, 9});
  expect("an atomic sum", sum.read(), {32.0f});
  expect<unsigned int>("bits",
                       {static_cast<unsigned int>(rocprim::get_bit(10, 3)), rocprim::bit_count(0xf0f0u),
                        rocprim::bit_count(~0ull), rocprim::ctz(8u), rocprim::ctz(1ull << 40)},
                       {1, 8, 64, 3, 40});
  Device<Place> places(14);
  Device<int> bounds(2);
  paths<<<1, 14>>>(places, bounds);
  std::vector<unsigned int> rows;
  for (const Place& place : places.read()) rows.push_back(place.x * 10 + place.y);
  expect<unsigned int>("paths", rows, {0, 1, 2, 12, 22, 23, 24, 25, 35, 36, 37, 38, 39, 49});
  expect("bounds", bounds.read(), {0, 2});
  return finished();
}
