// Sorts, searches, merges, sets and all that selects, on host and device, against std::.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "check.h"

struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct ByTens {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 < b / 10; }
};
struct SameTens {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 == b / 10; }
};
struct Item {
  int key;
  float weight;
  __host__ __device__ bool operator<(const Item& other) const { return key < other.key; }
  __host__ __device__ bool operator==(const Item& other) const { return key == other.key && weight == other.weight; }
};
struct SecondThenFirst {
  __host__ __device__ bool operator()(const thrust::tuple<int, int>& a, const thrust::tuple<int, int>& b) const {
    return thrust::get<1>(a) != thrust::get<1>(b) ? thrust::get<1>(a) < thrust::get<1>(b)
                                                  : thrust::get<0>(a) < thrust::get<0>(b);
  }
};

template <template <typename...> class Vector>
void sorts(int n) {
  std::vector<int> a = data(n, 1 << 30), wanted = a;
  for (int i = 0; i < n; i += 3) wanted[i] = a[i] = -a[i];
  Vector<int> x = a;
  std::sort(wanted.begin(), wanted.end());
  thrust::sort(x.begin(), x.end());
  CHECK(x == wanted && thrust::is_sorted(x.begin(), x.end()));
  std::sort(wanted.begin(), wanted.end(), std::greater<int>());
  thrust::sort(x.begin(), x.end(), thrust::greater<int>());
  CHECK(x == wanted && thrust::is_sorted(x.begin(), x.end(), thrust::greater<int>()));
  CHECK(thrust::is_sorted_until(x.begin(), x.end()) - x.begin() ==
        std::is_sorted_until(wanted.begin(), wanted.end()) - wanted.begin());
  std::vector<double> reals(n);
  for (int i = 0; i < n; ++i) reals[i] = a[i] / 1024.0;
  Vector<double> r = reals;
  std::sort(reals.begin(), reals.end());
  thrust::stable_sort(r.begin(), r.end());
  CHECK(r == reals);
  std::vector<unsigned char> bytes(a.begin(), a.end());
  Vector<unsigned char> t = bytes;
  std::sort(bytes.begin(), bytes.end());
  thrust::sort(t.begin(), t.end());
  CHECK(t == bytes);
  std::vector<int> small = data(n, 100), order(n);
  x = small;
  std::stable_sort(small.begin(), small.end(), ByTens());
  thrust::stable_sort(x.begin(), x.end(), ByTens());
  CHECK(x == small);
  std::vector<Item> items(n);
  for (int i = 0; i < n; ++i) items[i] = Item{a[i] % 50, i * 0.5f};
  Vector<Item> s = items;
  std::stable_sort(items.begin(), items.end());
  thrust::stable_sort(s.begin(), s.end());
  CHECK(s == items);

  // by key, stable
  std::vector<int> keys = data(n, 20, 5);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return keys[i] < keys[j]; });
  Vector<int> k = keys, v(n);
  thrust::sequence(v.begin(), v.end());
  thrust::stable_sort_by_key(k.begin(), k.end(), v.begin());
  std::vector<int> sorted_keys = keys;
  std::sort(sorted_keys.begin(), sorted_keys.end());
  CHECK(k == sorted_keys && v == order);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return keys[i] > keys[j]; });
  k = keys;
  Vector<double> beside(n);
  thrust::sequence(beside.begin(), beside.end());
  thrust::sequence(v.begin(), v.end());
  thrust::sort_by_key(k.begin(), k.end(), thrust::make_zip_iterator(v.begin(), beside.begin()), thrust::greater<int>());
  std::sort(sorted_keys.begin(), sorted_keys.end(), std::greater<int>());
  bool stable = true;
  for (int i = 1; i < n; ++i) stable = stable && (k[i] != k[i - 1] || v[i] > v[i - 1]);
  CHECK(k == sorted_keys && stable);
  CHECK(beside == Vector<double>(v));
  k = keys;
  thrust::sequence(v.begin(), v.end(), n, -1);
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(v.begin(), k.begin()));
  thrust::sort(pairs, pairs + n, SecondThenFirst());
  std::vector<std::pair<int, int>> couples(n);
  for (int i = 0; i < n; ++i) couples[i] = {keys[i], n - i};
  std::sort(couples.begin(), couples.end());
  bool same = true;
  for (int i = 0; i < n; ++i) same = same && k[i] == couples[i].first && v[i] == couples[i].second;
  CHECK(same);
}

template <template <typename...> class Vector>
void searches(int n) {
  std::vector<int> a = data(n, n), values = data(n, n + 2, 9), wanted(n);
  std::sort(a.begin(), a.end());
  Vector<int> x = a, v = values, z(n);
  for (int i = 0; i < n; ++i)
    wanted[i] = static_cast<int>(std::lower_bound(a.begin(), a.end(), values[i]) - a.begin());
  CHECK(thrust::lower_bound(x.begin(), x.end(), v.begin(), v.end(), z.begin()) == z.end() && z == wanted);
  for (int i = 0; i < n; ++i)
    wanted[i] = static_cast<int>(std::upper_bound(a.begin(), a.end(), values[i]) - a.begin());
  thrust::upper_bound(x.begin(), x.end(), v.begin(), v.end(), z.begin(), thrust::less<int>());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i) wanted[i] = std::binary_search(a.begin(), a.end(), values[i]);
  thrust::binary_search(x.begin(), x.end(), v.begin(), v.end(), z.begin());
  CHECK(z == wanted);
  int one = values[n / 2];
  CHECK(thrust::lower_bound(x.begin(), x.end(), one) - x.begin() ==
        std::lower_bound(a.begin(), a.end(), one) - a.begin());
  CHECK(thrust::upper_bound(x.begin(), x.end(), one) - x.begin() ==
        std::upper_bound(a.begin(), a.end(), one) - a.begin());
  CHECK(thrust::binary_search(x.begin(), x.end(), one) == std::binary_search(a.begin(), a.end(), one));
  auto range = thrust::equal_range(x.begin(), x.end(), a[n / 3]);
  CHECK(range.second - range.first == std::count(a.begin(), a.end(), a[n / 3]));
}

template <template <typename...> class Vector>
void merges(int n, int m) {
  std::vector<int> a = data(n, 40, 3), b = data(m, 40, 4), wanted;
  std::sort(a.begin(), a.end(), ByTens());
  std::sort(b.begin(), b.end(), ByTens());
  Vector<int> x = a, y = b, z(n + m);
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(wanted), ByTens());
  CHECK(thrust::merge(x.begin(), x.end(), y.begin(), y.end(), z.begin(), ByTens()) == z.end() && z == wanted);
  std::vector<int> left(n, 0), right(m, 1);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  x = a;
  y = b;
  Vector<int> from_a = left, from_b = right, from(n + m);
  thrust::merge_by_key(x.begin(), x.end(), y.begin(), y.end(), from_a.begin(), from_b.begin(), z.begin(), from.begin());
  wanted.clear();
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(wanted));
  bool stable = true;
  for (int i = 1; i < n + m; ++i) stable = stable && (z[i] != z[i - 1] || from[i] >= from[i - 1]);
  CHECK(z == wanted && stable);
#define SETS(name)                                                                                   \
  do {                                                                                               \
    Vector<int> out(n + m);                                                                          \
    auto end = thrust::name(x.begin(), x.end(), y.begin(), y.end(), out.begin());                    \
    out.resize(end - out.begin());                                                                   \
    wanted.clear();                                                                                  \
    std::name(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(wanted));                   \
    CHECK(out == wanted);                                                                            \
  } while (0)
  SETS(set_union);
  SETS(set_intersection);
  SETS(set_difference);
  SETS(set_symmetric_difference);
#undef SETS
  Vector<int> out(n + m), out_from(n + m);
  auto ends = thrust::set_symmetric_difference_by_key(x.begin(), x.end(), y.begin(), y.end(), from_a.begin(),
                                                      from_b.begin(), out.begin(), out_from.begin());
  out.resize(ends.first - out.begin());
  out_from.resize(ends.second - out_from.begin());
  bool right_source = true;
  for (size_t i = 0; i < out.size(); ++i) {
    int value = out[i];
    bool more_in_a = std::count(a.begin(), a.end(), value) > std::count(b.begin(), b.end(), value);
    right_source = right_source && out_from[i] == (more_in_a ? 0 : 1);
  }
  CHECK(out == wanted && right_source);
}

template <template <typename...> class Vector>
void selections(int n) {
  std::vector<int> a = data(n, 60), flags = data(n, 2, 7), wanted;
  Vector<int> x = a, f = flags, z(n);
  std::copy_if(a.begin(), a.end(), std::back_inserter(wanted), IsOdd());
  auto end = thrust::copy_if(x.begin(), x.end(), z.begin(), IsOdd());
  CHECK(Vector<int>(z.begin(), end) == wanted);
  wanted.clear();
  for (int i = 0; i < n; ++i)
    if (flags[i]) wanted.push_back(a[i]);
  end = thrust::copy_if(x.begin(), x.end(), f.begin(), z.begin(), thrust::identity<int>());
  CHECK(Vector<int>(z.begin(), end) == wanted);
  z = x;
  end = thrust::remove_if(z.begin(), z.end(), f.begin(), thrust::logical_not<int>());
  CHECK(Vector<int>(z.begin(), end) == wanted);
  wanted = a;
  wanted.erase(std::remove_if(wanted.begin(), wanted.end(), IsOdd()), wanted.end());
  z = x;
  z.erase(thrust::remove_if(z.begin(), z.end(), IsOdd()), z.end());
  CHECK(z == wanted);
  z.resize(n);
  CHECK(Vector<int>(z.begin(), thrust::remove_copy_if(x.begin(), x.end(), z.begin(), IsOdd())) == wanted);
  wanted = a;
  wanted.erase(std::remove(wanted.begin(), wanted.end(), 6), wanted.end());
  z = x;
  CHECK(Vector<int>(z.begin(), thrust::remove(z.begin(), z.end(), 6)) == wanted);
  wanted = a;
  wanted.erase(std::unique(wanted.begin(), wanted.end(), SameTens()), wanted.end());
  z = x;
  CHECK(thrust::unique_count(x.begin(), x.end(), SameTens()) == static_cast<long>(wanted.size()));
  CHECK(Vector<int>(z.begin(), thrust::unique(z.begin(), z.end(), SameTens())) == wanted);
  z.resize(n);
  CHECK(Vector<int>(z.begin(), thrust::unique_copy(x.begin(), x.end(), z.begin(), SameTens())) == wanted);
  wanted.clear();
  std::vector<int> wanted_values;
  for (int i = 0; i < n; ++i) {
    if (i == 0 || a[i] / 10 != a[i - 1] / 10) {
      wanted.push_back(a[i]);
      wanted_values.push_back(flags[i]);
    }
  }
  Vector<int> keys = x, values = f;
  auto ends = thrust::unique_by_key(keys.begin(), keys.end(), values.begin(), SameTens());
  CHECK(Vector<int>(keys.begin(), ends.first) == wanted && Vector<int>(values.begin(), ends.second) == wanted_values);
  wanted = a;
  auto middle = std::stable_partition(wanted.begin(), wanted.end(), IsOdd()) - wanted.begin();
  z = x;
  CHECK(thrust::stable_partition(z.begin(), z.end(), IsOdd()) - z.begin() == middle && z == wanted);
  CHECK(thrust::is_partitioned(z.begin(), z.end(), IsOdd()));
  CHECK(thrust::partition_point(z.begin(), z.end(), IsOdd()) - z.begin() == middle);
  z = x;
  thrust::partition(z.begin(), z.end(), f.begin(), thrust::identity<int>());
  long ones = std::count(flags.begin(), flags.end(), 1);
  wanted.clear();
  for (int i = 0; i < n; ++i)
    if (flags[i]) wanted.push_back(a[i]);
  CHECK(Vector<int>(z.begin(), z.begin() + ones) == wanted);
  Vector<int> yes(n), no(n);
  auto parts = thrust::partition_copy(x.begin(), x.end(), yes.begin(), no.begin(), IsOdd());
  CHECK(parts.first - yes.begin() == middle && parts.second - no.begin() == n - middle);
  wanted.clear();
  std::copy_if(a.begin(), a.end(), std::back_inserter(wanted), IsOdd());
  CHECK(Vector<int>(yes.begin(), parts.first) == wanted);
}

template <template <typename...> class Vector>
void all() {
  for (int n : {1, 2, 100, 3000}) {
    sorts<Vector>(n);
    searches<Vector>(n);
    merges<Vector>(n, n / 2);
    merges<Vector>(n / 3, n);
    selections<Vector>(n);
  }
}

int main() {
  all<thrust::host_vector>();
  all<thrust::device_vector>();
  return checked(384);
}
