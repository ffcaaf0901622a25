// Algorithms that go over elements and that reduce and scan, on host and device, against std:: or plain loops.
#include <thrust/adjacent_difference.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/equal.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/generate.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/logical.h>
#include <thrust/mismatch.h>
#include <thrust/reduce.h>
#include <thrust/replace.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/swap.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/transform_scan.h>
#include <thrust/uninitialized_copy.h>
#include <thrust/uninitialized_fill.h>

#include <algorithm>
#include <numeric>

#include "check.h"

struct Half {
  __host__ __device__ int operator()(int x) const { return x / 2; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Twice {
  template <typename T>
  __host__ __device__ void operator()(T& x) const {
    x = 2 * x;
  }
};
struct Seven {
  __host__ __device__ int operator()() const { return 7; }
};
// Joins x -> a * x + b: associative, and the order matters.
struct Line {
  unsigned a, b;
  __host__ __device__ bool operator==(const Line& other) const { return a == other.a && b == other.b; }
};
struct Compose {
  __host__ __device__ Line operator()(const Line& f, const Line& g) const { return {g.a * f.a, g.a * f.b + g.b}; }
};

template <typename Ints, typename Longs, typename Lines>
void elements(int n) {
  std::vector<int> a = data(n, 1000), b = data(n, 1000, 2), wanted(n);
  Ints x = a, y = b, z(n);
  std::transform(a.begin(), a.end(), wanted.begin(), Half());
  CHECK(thrust::transform(x.begin(), x.end(), z.begin(), Half()) == z.end() && z == wanted);
  std::transform(a.begin(), a.end(), b.begin(), wanted.begin(), std::minus<int>());
  thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), thrust::minus<int>());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i)
    if (b[i] % 2) wanted[i] = a[i] / 2;
  thrust::transform_if(x.begin(), x.end(), y.begin(), z.begin(), Half(), IsOdd());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i)
    if (a[i] % 2) wanted[i] = a[i] / 2;
  thrust::transform_if(x.begin(), x.end(), z.begin(), Half(), IsOdd());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i)
    if (a[i] % 2) wanted[i] = a[i] + b[i];
  thrust::transform_if(x.begin(), x.end(), y.begin(), x.begin(), z.begin(), thrust::plus<int>(), IsOdd());
  CHECK(z == wanted);
  for (int& one : wanted) one *= 2;
  CHECK(thrust::for_each(z.begin(), z.end(), Twice()) == z.end() && z == wanted);
  for (int i = 0; i < n / 2; ++i) wanted[i] *= 2;
  CHECK(thrust::for_each_n(z.begin(), n / 2, Twice()) == z.begin() + n / 2 && z == wanted);
  std::iota(wanted.begin(), wanted.end(), 0);
  thrust::sequence(z.begin(), z.end());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i) wanted[i] = 5 + 3 * i;
  thrust::sequence(z.begin(), z.end(), 5, 3);
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i) wanted[i] = i / 2;
  thrust::tabulate(z.begin(), z.end(), Half());
  CHECK(z == wanted);
  thrust::generate(z.begin(), z.end(), Seven());
  CHECK(z == std::vector<int>(n, 7));
  CHECK(thrust::fill_n(z.begin(), n, 9) == z.end() && z == std::vector<int>(n, 9));
  thrust::copy(x.begin(), x.end(), z.begin());
  CHECK(z == a);
  CHECK(thrust::copy_n(y.begin(), n, z.begin()) == z.end() && z == b);
  thrust::uninitialized_copy(x.begin(), x.end(), z.begin());
  CHECK(z == a);
  thrust::uninitialized_fill(z.begin(), z.end(), 4);
  CHECK(z == std::vector<int>(n, 4));

  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[i] = static_cast<int>((i * 7919ll + 13) % n);  // 7919 is prime to each n here
  Ints map = order;
  for (int i = 0; i < n; ++i) wanted[i] = a[order[i]];
  thrust::gather(map.begin(), map.end(), x.begin(), z.begin());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i) wanted[order[i]] = a[i];
  thrust::scatter(x.begin(), x.end(), map.begin(), z.begin());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i)
    if (b[i] % 2) wanted[i] = a[order[i]];
  thrust::gather_if(map.begin(), map.end(), y.begin(), x.begin(), z.begin(), IsOdd());
  CHECK(z == wanted);
  for (int i = 0; i < n; ++i)
    if (b[i] % 2) wanted[order[i]] = b[i];
  thrust::scatter_if(y.begin(), y.end(), map.begin(), y.begin(), z.begin(), IsOdd());
  CHECK(z == wanted);
  std::replace(wanted.begin(), wanted.end(), 5, -1);
  thrust::replace(z.begin(), z.end(), 5, -1);
  CHECK(z == wanted);
  std::replace_if(wanted.begin(), wanted.end(), IsOdd(), 0);
  thrust::replace_if(z.begin(), z.end(), IsOdd(), 0);
  CHECK(z == wanted);
  std::replace_copy_if(a.begin(), a.end(), wanted.begin(), IsOdd(), 2);
  thrust::replace_copy_if(x.begin(), x.end(), z.begin(), IsOdd(), 2);
  CHECK(z == wanted);
  std::reverse(wanted.begin(), wanted.end());
  thrust::reverse(z.begin(), z.end());
  CHECK(z == wanted);
  std::reverse_copy(a.begin(), a.end(), wanted.begin());
  thrust::reverse_copy(x.begin(), x.end(), z.begin());
  CHECK(z == wanted);
  Ints w = b;
  CHECK(thrust::swap_ranges(z.begin(), z.end(), w.begin()) == w.end() && z == b && w == wanted);
  std::adjacent_difference(a.begin(), a.end(), wanted.begin());
  thrust::adjacent_difference(x.begin(), x.end(), z.begin());
  CHECK(z == wanted);
  z = x;
  thrust::adjacent_difference(z.begin(), z.end(), z.begin());
  CHECK(z == wanted);

  // searching
  CHECK(thrust::count(x.begin(), x.end(), 17) == std::count(a.begin(), a.end(), 17));
  CHECK(thrust::count_if(x.begin(), x.end(), IsOdd()) == std::count_if(a.begin(), a.end(), IsOdd()));
  CHECK(thrust::find(x.begin(), x.end(), a[n / 2]) - x.begin() == std::find(a.begin(), a.end(), a[n / 2]) - a.begin());
  CHECK(thrust::find(x.begin(), x.end(), -5) == x.end());
  CHECK(thrust::find_if(x.begin(), x.end(), IsOdd()) - x.begin() ==
        std::find_if(a.begin(), a.end(), IsOdd()) - a.begin());
  CHECK(thrust::find_if_not(x.begin(), x.end(), IsOdd()) - x.begin() ==
        std::find_if_not(a.begin(), a.end(), IsOdd()) - a.begin());
  CHECK(thrust::any_of(x.begin(), x.end(), IsOdd()) == std::any_of(a.begin(), a.end(), IsOdd()));
  CHECK(thrust::all_of(x.begin(), x.end(), IsOdd()) == std::all_of(a.begin(), a.end(), IsOdd()));
  CHECK(thrust::none_of(x.begin(), x.end(), IsOdd()) == std::none_of(a.begin(), a.end(), IsOdd()));
  z = x;
  CHECK(thrust::equal(x.begin(), x.end(), z.begin()));
  z[n - 1] = -1;
  CHECK(!thrust::equal(x.begin(), x.end(), z.begin()));
  auto differ = thrust::mismatch(x.begin(), x.end(), z.begin());
  CHECK(differ.first == x.begin() + (n - 1) && differ.second == z.begin() + (n - 1));
  CHECK(thrust::min_element(x.begin(), x.end()) - x.begin() == std::min_element(a.begin(), a.end()) - a.begin());
  CHECK(thrust::max_element(x.begin(), x.end()) - x.begin() == std::max_element(a.begin(), a.end()) - a.begin());
  CHECK(thrust::max_element(x.begin(), x.end(), thrust::greater<int>()) - x.begin() ==
        std::min_element(a.begin(), a.end()) - a.begin());
  auto both = thrust::minmax_element(x.begin(), x.end());
  auto std_both = std::minmax_element(a.begin(), a.end());
  CHECK(both.first - x.begin() == std_both.first - a.begin() && both.second - x.begin() == std_both.second - a.begin());

  // reductions
  CHECK(thrust::reduce(x.begin(), x.end()) == std::accumulate(a.begin(), a.end(), 0));
  CHECK(thrust::reduce(x.begin(), x.end(), 5ll) == std::accumulate(a.begin(), a.end(), 5ll));
  CHECK(thrust::reduce(x.begin(), x.end(), -3, thrust::maximum<int>()) == *std::max_element(a.begin(), a.end()));
  CHECK(thrust::reduce(x.begin(), x.begin(), 11) == 11);
  CHECK(thrust::transform_reduce(x.begin(), x.end(), Half(), 1, thrust::plus<int>()) ==
        std::accumulate(a.begin(), a.end(), 1, [](int sum, int one) { return sum + one / 2; }));
  CHECK(thrust::inner_product(x.begin(), x.end(), y.begin(), 3ll) ==
        std::inner_product(a.begin(), a.end(), b.begin(), 3ll));
  CHECK(thrust::inner_product(x.begin(), x.end(), y.begin(), 0, thrust::plus<int>(), thrust::not_equal_to<int>()) ==
        std::inner_product(a.begin(), a.end(), b.begin(), 0, std::plus<int>(), std::not_equal_to<int>()));
  std::vector<Line> lines(n);
  for (int i = 0; i < n; ++i) lines[i] = Line{static_cast<unsigned>(2 * a[i] + 1), static_cast<unsigned>(b[i])};
  Lines l = lines;
  Line whole = std::accumulate(lines.begin(), lines.end(), Line{1, 9}, Compose());
  CHECK(thrust::reduce(l.begin(), l.end(), Line{1, 9}, Compose()) == whole);

  // scans
  Longs sums(n);
  std::vector<long long> long_wanted(n);
  std::vector<long long> wide(a.begin(), a.end());
  Longs v = wide;
  std::partial_sum(wide.begin(), wide.end(), long_wanted.begin());
  CHECK(thrust::inclusive_scan(v.begin(), v.end(), sums.begin()) == sums.end() && sums == long_wanted);
  sums = v;
  thrust::inclusive_scan(sums.begin(), sums.end(), sums.begin(), thrust::plus<long long>());
  CHECK(sums == long_wanted);
  std::exclusive_scan(wide.begin(), wide.end(), long_wanted.begin(), 100ll);
  thrust::exclusive_scan(x.begin(), x.end(), sums.begin(), 100ll);
  CHECK(sums == long_wanted);
  std::exclusive_scan(wide.begin(), wide.end(), long_wanted.begin(), 0ll);
  sums = v;
  thrust::exclusive_scan(sums.begin(), sums.end(), sums.begin());
  CHECK(sums == long_wanted);
  std::partial_sum(a.begin(), a.end(), wanted.begin(), [](int p, int q) { return std::max(p, q); });
  thrust::inclusive_scan(x.begin(), x.end(), z.begin(), thrust::maximum<int>());
  CHECK(z == wanted);
  std::transform_inclusive_scan(a.begin(), a.end(), wanted.begin(), std::plus<int>(), Half());
  thrust::transform_inclusive_scan(x.begin(), x.end(), z.begin(), Half(), thrust::plus<int>());
  CHECK(z == wanted);
  std::transform_exclusive_scan(a.begin(), a.end(), wanted.begin(), 5, std::plus<int>(), Half());
  thrust::transform_exclusive_scan(x.begin(), x.end(), z.begin(), Half(), 5, thrust::plus<int>());
  CHECK(z == wanted);
  std::vector<Line> lines_wanted(n);
  std::partial_sum(lines.begin(), lines.end(), lines_wanted.begin(), Compose());
  thrust::inclusive_scan(l.begin(), l.end(), l.begin(), Compose());
  CHECK(l == lines_wanted);

  // by key
  std::vector<int> keys = data(n, 4, 3);
  for (int i = 1; i < n; ++i)
    if (b[i] % 3) keys[i] = keys[i - 1];
  Ints k = keys, keys_out(n), values_out(n);
  std::vector<int> keys_wanted, values_wanted, inclusive(n), exclusive(n);
  for (int i = 0; i < n; ++i) {
    bool begins = i == 0 || keys[i] != keys[i - 1];
    inclusive[i] = begins ? a[i] : inclusive[i - 1] + a[i];
    exclusive[i] = begins ? 10 : exclusive[i - 1] + a[i - 1];
    if (begins) {
      keys_wanted.push_back(keys[i]);
      values_wanted.push_back(0);
    }
    values_wanted.back() = inclusive[i];
  }
  auto ends = thrust::reduce_by_key(k.begin(), k.end(), x.begin(), keys_out.begin(), values_out.begin());
  keys_out.resize(ends.first - keys_out.begin());
  values_out.resize(ends.second - values_out.begin());
  CHECK(keys_out == keys_wanted && values_out == values_wanted);
  thrust::inclusive_scan_by_key(k.begin(), k.end(), x.begin(), z.begin());
  CHECK(z == inclusive);
  z = x;
  thrust::exclusive_scan_by_key(k.begin(), k.end(), z.begin(), z.begin(), 10);
  CHECK(z == exclusive);
}

int main() {
  for (int n : {1, 3, 64, 1000, 20000}) {
    elements<thrust::host_vector<int>, thrust::host_vector<long long>, thrust::host_vector<Line>>(n);
    elements<thrust::device_vector<int>, thrust::device_vector<long long>, thrust::device_vector<Line>>(n);
  }
  return checked(630);
}
