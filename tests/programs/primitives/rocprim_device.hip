// rocPRIM's algorithms of the whole device, and its iterators, against the host.
#include <hip/hip_runtime.h>
#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>

#include "check.h"

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Below {
  int limit;
  __host__ __device__ bool operator()(int x) const { return x < limit; }
};
struct Tripled {
  __host__ __device__ int operator()(int x) const { return 3 * x; }
};
struct AddPairs {
  static_assert(rocprim::make_tuple(1, 2) == rocprim::make_tuple(1, 2));
  static_assert(!(rocprim::make_tuple(1, 2) == rocprim::make_tuple(1, 3)));
  static_assert(!(rocprim::make_tuple(1, 2) == rocprim::make_tuple(2, 2)));
  static_assert(rocprim::make_tuple(1, 2) != rocprim::make_tuple(1, 3));
  static_assert(!(rocprim::make_tuple(1, 2) != rocprim::make_tuple(1, 2)));
  using Pair = rocprim::tuple<int, float>;
  __host__ __device__ Pair operator()(const Pair& a, const Pair& b) const {
    return rocprim::make_tuple(rocprim::get<0>(a) + rocprim::get<0>(b), rocprim::get<1>(a) + rocprim::get<1>(b));
  }
};

std::vector<int> numbers(size_t n, unsigned below) {
  std::vector<int> made(n);
  for (int& x : made) x = static_cast<int>(random_below(below));
  return made;
}

void scans(size_t n) {
  auto values = numbers(n, 1000);
  Device<int> in(values), out(n), one(1);
  run("reduce",
      [&](void* t, size_t& b) { return rocprim::reduce(t, b, in.data, one.data, 7, n, rocprim::plus<int>()); });
  expect_one("reduce", one.read()[0], std::accumulate(values.begin(), values.end(), 7));
  run("reduce without", [&](void* t, size_t& b) {
    return rocprim::reduce<rocprim::kernel_config<256, 4>>(t, b, in.data, one.data, n, rocprim::maximum<int>());
  });
  expect_one("reduce without", one.read()[0], n == 0 ? 0 : *std::max_element(values.begin(), values.end()));
  std::vector<int> upto(n), before(n);
  int sum = 5;
  for (size_t i = 0; i < n; ++i) before[i] = sum, upto[i] = (sum += values[i]) - 5;
  run("inclusive_scan", [&](void* t, size_t& b) { return rocprim::inclusive_scan(t, b, in.data, out.data, n); });
  expect("inclusive_scan", out.read(), upto);
  run("exclusive_scan",
      [&](void* t, size_t& b) { return rocprim::exclusive_scan(t, b, in.data, out.data, 5, n, rocprim::plus<int>()); });
  expect("exclusive_scan", out.read(), before);
  // the runs of equal keys, and segments by flags and by offsets
  std::vector<int> keys(n), flags(n), by_key(n), unique, sums, begins;
  for (size_t i = 0; i < n; ++i) {
    flags[i] = i == 0 || random_below(9) == 0;
    keys[i] = i == 0 ? 0 : keys[i - 1] + flags[i];
    by_key[i] = (flags[i] ? 0 : by_key[i - 1]) + values[i];
    if (flags[i]) begins.push_back(static_cast<int>(i)), unique.push_back(keys[i]), sums.push_back(0);
    sums.back() += values[i];
  }
  unsigned count = static_cast<unsigned>(begins.size());
  begins.push_back(static_cast<int>(n));
  Device<int> d_keys(keys), d_flags(flags), offsets(begins), u(n), s(n);
  run("inclusive_scan_by_key", [&](void* t, size_t& b) {
    return rocprim::inclusive_scan_by_key(t, b, d_keys.data, in.data, out.data, n, rocprim::plus<int>());
  });
  expect("inclusive_scan_by_key", out.read(), by_key);
  run("segmented_inclusive_scan, flags",
      [&](void* t, size_t& b) { return rocprim::segmented_inclusive_scan(t, b, in.data, out.data, d_flags.data, n); });
  expect("segmented_inclusive_scan, flags", out.read(), by_key);
  run("segmented_inclusive_scan", [&](void* t, size_t& b) {
    return rocprim::segmented_inclusive_scan(t, b, in.data, out.data, count, offsets.data, offsets.data + 1,
                                             rocprim::plus<int>());
  });
  expect("segmented_inclusive_scan", out.read(), by_key);
  run("segmented_exclusive_scan", [&](void* t, size_t& b) {
    return rocprim::segmented_exclusive_scan(t, b, in.data, out.data, count, offsets.data, offsets.data + 1, 100);
  });
  std::vector<int> exclusive(n);
  for (size_t i = 0; i < n; ++i) exclusive[i] = by_key[i] - values[i] + 100;
  expect("segmented_exclusive_scan", out.read(), exclusive);
  run("segmented_reduce", [&](void* t, size_t& b) {
    return rocprim::segmented_reduce(t, b, in.data, s.data, count, offsets.data, offsets.data + 1);
  });
  expect("segmented_reduce", s.read(sums.size()), sums);
  run("reduce_by_key", [&](void* t, size_t& b) {
    return rocprim::reduce_by_key(t, b, d_keys.data, in.data, n, u.data, s.data, one.data);
  });
  expect_one("reduce_by_key", one.read()[0], static_cast<int>(count));
  expect("reduce_by_key", u.read(count), unique);
  expect("reduce_by_key", s.read(count), sums);
  run("run_length_encode",
      [&](void* t, size_t& b) { return rocprim::run_length_encode(t, b, d_keys.data, n, u.data, s.data, one.data); });
  std::vector<int> lengths;
  for (unsigned i = 0; i < count; ++i) lengths.push_back(begins[i + 1] - begins[i]);
  expect("run_length_encode", s.read(count), lengths);

  // iterators: sums of pairs, and of what functions make
  std::vector<float> reals(n);
  for (float& x : reals) x = static_cast<float>(random_below(8));
  Device<float> real(reals), real_out(n);
  auto zipped = rocprim::make_zip_iterator(rocprim::make_tuple(in.data, real.data));
  auto zipped_out = rocprim::make_zip_iterator(rocprim::make_tuple(out.data, real_out.data));
  run("zip_iterator",
      [&](void* t, size_t& b) { return rocprim::inclusive_scan(t, b, zipped, zipped_out, n, AddPairs()); });
  expect("zip_iterator", out.read(), upto);
  std::vector<float> real_sums(n);
  std::partial_sum(reals.begin(), reals.end(), real_sums.begin());
  expect("zip_iterator", real_out.read(), real_sums);
  auto tripled = rocprim::make_transform_iterator(rocprim::make_counting_iterator(1), Tripled());
  HIP(rocprim::transform(
      tripled, rocprim::make_transform_output_iterator(rocprim::make_reverse_iterator(out.data + n), Tripled()), n,
      rocprim::identity<int>()));
  std::vector<int> backwards(n);
  for (size_t i = 0; i < n; ++i) backwards[n - 1 - i] = 9 * static_cast<int>(i + 1);
  expect("transform", out.read(), backwards);
  HIP(rocprim::transform(in.data, d_keys.data, out.data, n, rocprim::minus<int>()));
  std::vector<int> differences(n);
  for (size_t i = 0; i < n; ++i) differences[i] = values[i] - keys[i];
  expect("transform of two", out.read(), differences);
}

void sorts(size_t n) {
  auto keys = numbers(n, 5000);
  std::vector<int> order(n), down(n), sorted = keys;
  std::iota(order.begin(), order.end(), 0);
  down = order;
  Device<int> in(keys), out(n), v(order), v_out(n);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::stable_sort(down.begin(), down.end(), [&](int a, int b) { return keys[a] > keys[b]; });
  std::sort(sorted.begin(), sorted.end());
  run("radix_sort_keys", [&](void* t, size_t& b) { return rocprim::radix_sort_keys(t, b, in.data, out.data, n); });
  expect("radix_sort_keys", out.read(), sorted);
  run("radix_sort_pairs_desc", [&](void* t, size_t& b) {
    return rocprim::radix_sort_pairs_desc(t, b, in.data, out.data, rocprim::make_counting_iterator(0), v_out.data, n);
  });
  expect("radix_sort_pairs_desc", v_out.read(), down);
  {
    Device<int> a(keys), b(n);
    rocprim::double_buffer<int> buffer(a.data, b.data);
    run("double_buffer", [&](void* t, size_t& s) { return rocprim::radix_sort_keys(t, s, buffer, n, 0, 24); });
    expect("double_buffer", (buffer.current() == a.data ? a : b).read(), sorted);
  }
  // short floats: numbers that they hold exactly
  std::vector<rocprim::half> halves(n);
  std::vector<rocprim::bfloat16> brains(n);
  for (size_t i = 0; i < n; ++i) {
    float x = static_cast<float>(static_cast<int>(random_below(255)) - 127);
    halves[i] = rocprim::half(x);
    brains[i] = rocprim::bfloat16(x);
  }
  Device<rocprim::half> h(halves), h_out(n);
  Device<rocprim::bfloat16> f(brains), f_out(n);
  run("half", [&](void* t, size_t& b) { return rocprim::radix_sort_keys(t, b, h.data, h_out.data, n); });
  run("bfloat16", [&](void* t, size_t& b) { return rocprim::radix_sort_keys_desc(t, b, f.data, f_out.data, n); });
  auto as_floats = [](const auto& from) {
    std::vector<float> made;
    for (const auto& x : from) made.push_back(static_cast<float>(x));
    return made;
  };
  auto wanted = as_floats(halves);
  std::sort(wanted.begin(), wanted.end());
  expect("half", as_floats(h_out.read()), wanted);
  std::reverse(wanted.begin(), wanted.end());
  expect("bfloat16", as_floats(f_out.read()), wanted);
  // 128 bits
  std::vector<__int128> wide(n);
  for (auto& x : wide)
    x = (static_cast<__int128>(static_cast<int>(generator()())) << 64) + static_cast<int>(random_below(3)) - 1;
  Device<__int128> w(wide), w_out(n);
  run("int128", [&](void* t, size_t& b) { return rocprim::radix_sort_keys(t, b, w.data, w_out.data, n); });
  std::sort(wide.begin(), wide.end());
  auto found = w_out.read();
  expect_one("int128", found == wide, true);

  run("merge_sort", [&](void* t, size_t& b) {
    return rocprim::merge_sort(t, b, in.data, out.data, v.data, v_out.data, n, rocprim::greater<int>());
  });
  expect("merge_sort", v_out.read(), down);
  if (n != 0) {
    run("nth_element", [&](void* t, size_t& b) { return rocprim::nth_element(t, b, in.data, out.data, n / 3, n); });
    auto parts = out.read();
    expect_one("nth_element", parts[n / 3], sorted[n / 3]);
    expect_one("nth_element: before", *std::max_element(parts.begin(), parts.begin() + n / 3 + 1), sorted[n / 3]);
  }
  auto more = numbers(n / 2 + 3, 5000);
  std::sort(more.begin(), more.end());
  std::vector<int> both(n + more.size());
  std::merge(sorted.begin(), sorted.end(), more.begin(), more.end(), both.begin());
  Device<int> a(sorted), c(more), d(both.size());
  run("merge", [&](void* t, size_t& b) { return rocprim::merge(t, b, a.data, c.data, d.data, n, more.size()); });
  expect("merge", d.read(), both);
  std::vector<int> lower, upper, there;
  for (int x : more) {
    lower.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin()));
    upper.push_back(static_cast<int>(std::upper_bound(sorted.begin(), sorted.end(), x) - sorted.begin()));
    there.push_back(std::binary_search(sorted.begin(), sorted.end(), x));
  }
  Device<int> places(more.size());
  run("lower_bound",
      [&](void* t, size_t& b) { return rocprim::lower_bound(t, b, a.data, c.data, places.data, n, more.size()); });
  expect("lower_bound", places.read(), lower);
  run("upper_bound",
      [&](void* t, size_t& b) { return rocprim::upper_bound(t, b, a.data, c.data, places.data, n, more.size()); });
  expect("upper_bound", places.read(), upper);
  run("binary_search",
      [&](void* t, size_t& b) { return rocprim::binary_search(t, b, a.data, c.data, places.data, n, more.size()); });
  expect("binary_search", places.read(), there);
  // the input in segments of 100
  std::vector<unsigned> begins;
  for (size_t i = 0; i < n; i += 100) begins.push_back(static_cast<unsigned>(i));
  unsigned segments = static_cast<unsigned>(begins.size());
  begins.push_back(static_cast<unsigned>(n));
  auto by_segment = keys;
  for (unsigned s = 0; s < segments; ++s) std::sort(by_segment.begin() + begins[s], by_segment.begin() + begins[s + 1]);
  Device<unsigned> offsets(begins);
  run("segmented_radix_sort_keys", [&](void* t, size_t& b) {
    return rocprim::segmented_radix_sort_keys(t, b, in.data, out.data, static_cast<unsigned>(n), segments, offsets.data,
                                              offsets.data + 1);
  });
  expect("segmented_radix_sort_keys", out.read(), by_segment);
}

void selections(size_t n) {
  auto values = numbers(n, 40);
  Device<int> in(values), out(n), rest(n), count(1);
  std::vector<int> odd, even, unique;
  for (size_t i = 0; i < n; ++i) {
    (Odd()(values[i]) ? odd : even).push_back(values[i]);
    if (i == 0 || values[i] != values[i - 1]) unique.push_back(values[i]);
  }
  run("select", [&](void* t, size_t& b) { return rocprim::select(t, b, in.data, out.data, count.data, n, Odd()); });
  expect_one("select", count.read()[0], static_cast<int>(odd.size()));
  expect("select", out.read(odd.size()), odd);
  run("select by flags", [&](void* t, size_t& b) {
    return rocprim::select(t, b, rocprim::make_counting_iterator(0), rocprim::make_transform_iterator(in.data, Odd()),
                           out.data, count.data, n);
  });
  std::vector<int> places;
  for (size_t i = 0; i < n; ++i) {
    if (Odd()(values[i])) places.push_back(static_cast<int>(i));
  }
  expect("select by flags", out.read(places.size()), places);
  run("partition_two_way", [&](void* t, size_t& b) {
    return rocprim::partition_two_way(t, b, in.data, out.data, rest.data, count.data, n, Odd());
  });
  expect("partition_two_way", out.read(odd.size()), odd);
  expect("partition_two_way", rest.read(even.size()), even);
  run("partition",
      [&](void* t, size_t& b) { return rocprim::partition(t, b, in.data, out.data, count.data, n, Odd()); });
  auto both = odd;
  both.insert(both.end(), even.rbegin(), even.rend());
  expect("partition", out.read(), both);
  run("unique", [&](void* t, size_t& b) { return rocprim::unique(t, b, in.data, out.data, count.data, n); });
  expect_one("unique", count.read()[0], static_cast<int>(unique.size()));
  expect("unique", out.read(unique.size()), unique);
  // searches for a place
  Device<size_t> place(1);
  std::vector<int> pattern =
      n > 10 ? std::vector<int>(values.begin() + n / 2, values.begin() + n / 2 + 3) : std::vector<int>{99};
  Device<int> keys(pattern);
  auto at = [&](auto found) { return static_cast<size_t>(found - values.begin()); };
  run("search",
      [&](void* t, size_t& b) { return rocprim::search(t, b, in.data, keys.data, place.data, n, pattern.size()); });
  expect_one("search", place.read()[0], at(std::search(values.begin(), values.end(), pattern.begin(), pattern.end())));
  run("find_end",
      [&](void* t, size_t& b) { return rocprim::find_end(t, b, in.data, keys.data, place.data, n, pattern.size()); });
  expect_one("find_end", place.read()[0],
             at(std::find_end(values.begin(), values.end(), pattern.begin(), pattern.end())));
  run("find_first_of", [&](void* t, size_t& b) {
    return rocprim::find_first_of(t, b, in.data, keys.data, place.data, n, pattern.size());
  });
  expect_one("find_first_of", place.read()[0],
             at(std::find_first_of(values.begin(), values.end(), pattern.begin(), pattern.end())));
  run("adjacent_find", [&](void* t, size_t& b) { return rocprim::adjacent_find(t, b, in.data, place.data, n); });
  expect_one("adjacent_find", place.read()[0], at(std::adjacent_find(values.begin(), values.end())));
  run("search_n", [&](void* t, size_t& b) { return rocprim::search_n(t, b, in.data, place.data, n, 2, keys.data); });
  expect_one("search_n", place.read()[0], at(std::search_n(values.begin(), values.end(), 2, pattern[0])));
  std::vector<unsigned> bins(10);
  for (int x : values) ++bins[x / 4];
  Device<unsigned> histogram(10);
  run("histogram_even", [&](void* t, size_t& b) {
    return rocprim::histogram_even(t, b, in.data, static_cast<unsigned>(n), histogram.data, 11, 0, 40);
  });
  expect("histogram_even", histogram.read(), bins);
  std::vector<int> left(n);
  for (size_t i = 0; i < n; ++i) left[i] = i == 0 ? values[0] : values[i] - values[i - 1];
  run("adjacent_difference",
      [&](void* t, size_t& b) { return rocprim::adjacent_difference(t, b, in.data, out.data, n); });
  expect("adjacent_difference", out.read(), left);
}

int main(int argc, char** argv) {
  size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000;
  for (size_t n : sizes(most)) {
    int before = failures;
    scans(n);
    sorts(n);
    selections(n);
    if (failures != before) std::printf("... with %zu items\n", n);
  }
  return finished();
}
