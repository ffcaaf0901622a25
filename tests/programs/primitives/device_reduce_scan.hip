// hipcub::DeviceReduce, DeviceScan, DeviceSegmentedReduce against the host.
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>

#include "check.h"

// An operator that is associative and not commutative: x -> a * x + b, one after the other, modulo 2^32.
struct Affine {
  unsigned a, b;
  bool operator==(const Affine& o) const { return a == o.a && b == o.b; }
};
struct Then {
  __host__ __device__ Affine operator()(const Affine& f, const Affine& g) const { return {f.a * g.a, g.a * f.b + g.b}; }
};
struct Larger {
  template <typename T>
  __device__ T operator()(const T& a, const T& b) const {
    return a > b ? a : b;
  }
};
struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};
struct SameTens {
  __host__ __device__ bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

template <typename T>
std::vector<T> numbers(size_t n, unsigned below) {
  std::vector<T> made(n);
  for (T& x : made) x = static_cast<T>(static_cast<int>(random_below(below)) - static_cast<int>(below / 2));
  return made;
}

void reductions(size_t n) {
  auto values = numbers<int>(n, 2001);
  Device<int> in(values), out(1);
  auto one = [&](const char* what, int wanted) { expect_one(what, out.read()[0], wanted); };
  run("Sum", [&](void* t, size_t& b) { return hipcub::DeviceReduce::Sum(t, b, in.data, out.data, n); });
  one("Sum", std::accumulate(values.begin(), values.end(), 0));
  run("Min", [&](void* t, size_t& b) { return hipcub::DeviceReduce::Min(t, b, in.data, out.data, n); });
  one("Min", n == 0 ? INT_MAX : *std::min_element(values.begin(), values.end()));
  run("Max", [&](void* t, size_t& b) { return hipcub::DeviceReduce::Max(t, b, in.data, out.data, n); });
  one("Max", n == 0 ? INT_MIN : *std::max_element(values.begin(), values.end()));
  run("Reduce", [&](void* t, size_t& b) {
    return hipcub::DeviceReduce::Reduce(t, b, in.data, out.data, static_cast<int>(n), Larger(), 17);
  });
  one("Reduce", std::max(17, n == 0 ? 17 : *std::max_element(values.begin(), values.end())));

  Device<hipcub::KeyValuePair<int, int>> pair(1);
  run("ArgMin", [&](void* t, size_t& b) { return hipcub::DeviceReduce::ArgMin(t, b, in.data, pair.data, n); });
  auto least = std::min_element(values.begin(), values.end());
  hipcub::KeyValuePair<int, int> wanted(1, INT_MAX);
  if (n != 0) wanted = {static_cast<int>(least - values.begin()), *least};
  expect_one("ArgMin", pair.read()[0], wanted);
  run("ArgMax", [&](void* t, size_t& b) { return hipcub::DeviceReduce::ArgMax(t, b, in.data, pair.data, n); });
  auto most = std::max_element(values.begin(), values.end());
  wanted = {1, INT_MIN};
  if (n != 0) wanted = {static_cast<int>(most - values.begin()), *most};
  expect_one("ArgMax", pair.read()[0], wanted);
  Device<long> index(1);
  run("ArgMax apart",
      [&](void* t, size_t& b) { return hipcub::DeviceReduce::ArgMax(t, b, in.data, out.data, index.data, n); });
  one("ArgMax apart", wanted.value);
  expect_one("its place", index.read()[0], static_cast<long>(wanted.key));

  Device<long long> wide(1);
  long long squares = 5;
  for (int x : values) squares += static_cast<long long>(x) * x;
  run("TransformReduce", [&](void* t, size_t& b) {
    return hipcub::DeviceReduce::TransformReduce(t, b, in.data, wide.data, n, hipcub::Sum(), Square(), 5ll);
  });
  expect_one("TransformReduce", wide.read()[0], squares);
  hipcub::CountingInputIterator<long long> counting(3);
  run("Sum of an iterator",
      [&](void* t, size_t& b) { return hipcub::DeviceReduce::Sum(t, b, counting, wide.data, n); });
  long long m = static_cast<long long>(n);
  expect_one("Sum of an iterator", wide.read()[0], 3 * m + m * (m - 1) / 2);

  std::vector<double> reals(n);
  for (double& x : reals) x = random_below(1000) / 7.0;
  Device<double> real_in(reals), real_out(1);
  run("Sum of doubles",
      [&](void* t, size_t& b) { return hipcub::DeviceReduce::Sum(t, b, real_in.data, real_out.data, n); });
  expect_one("Sum of doubles", real_out.read()[0], std::accumulate(reals.begin(), reals.end(), 0.0));
}

void by_key(size_t n) {
  std::vector<int> keys(n), values = numbers<int>(n, 100);
  for (size_t i = 0, k = 0; i < n; ++i) keys[i] = static_cast<int>(random_below(5) == 0 ? ++k % 1000 : k % 1000);
  Device<int> in_keys(keys), in(values), out_keys(n), out(n), runs(1);
  std::vector<int> unique, sums, scan(n), before(n);
  for (size_t i = 0; i < n; ++i) {
    bool head = i == 0 || keys[i] != keys[i - 1];
    if (head) unique.push_back(keys[i]), sums.push_back(0);
    before[i] = head ? 0 : scan[i - 1];
    scan[i] = before[i] + values[i];
    sums.back() += values[i];
  }
  run("ReduceByKey", [&](void* t, size_t& b) {
    return hipcub::DeviceReduce::ReduceByKey(t, b, in_keys.data, out_keys.data, in.data, out.data, runs.data,
                                             hipcub::Sum(), n);
  });
  expect_one("ReduceByKey", runs.read()[0], static_cast<int>(unique.size()));
  expect("ReduceByKey: keys", out_keys.read(unique.size()), unique);
  expect("ReduceByKey: sums", out.read(sums.size()), sums);
  run("InclusiveSumByKey", [&](void* t, size_t& b) {
    return hipcub::DeviceScan::InclusiveSumByKey(t, b, in_keys.data, in.data, out.data, n);
  });
  expect("InclusiveSumByKey", out.read(), scan);
  run("ExclusiveSumByKey", [&](void* t, size_t& b) {
    return hipcub::DeviceScan::ExclusiveSumByKey(t, b, in_keys.data, in.data, out.data, n);
  });
  expect("ExclusiveSumByKey", out.read(), before);
  // keys that are equal by a function of the caller's, and an initial value
  std::vector<int> most(n);
  int so_far = 0;
  for (size_t i = 0; i < n; ++i) {
    if (i == 0 || keys[i] / 10 != keys[i - 1] / 10) so_far = 7;
    most[i] = so_far;
    so_far = std::max(so_far, values[i]);
  }
  run("ExclusiveScanByKey", [&](void* t, size_t& b) {
    return hipcub::DeviceScan::ExclusiveScanByKey(t, b, in_keys.data, in.data, out.data, hipcub::Max(), 7, n,
                                                  SameTens());
  });
  expect("ExclusiveScanByKey", out.read(), most);
}

void scans(size_t n) {
  auto values = numbers<int>(n, 2001);
  Device<int> in(values), out(n);
  std::vector<int> upto(n), before(n);
  int sum = 0;
  for (size_t i = 0; i < n; ++i) before[i] = sum, upto[i] = sum += values[i];
  run("InclusiveSum", [&](void* t, size_t& b) { return hipcub::DeviceScan::InclusiveSum(t, b, in.data, out.data, n); });
  expect("InclusiveSum", out.read(), upto);
  run("ExclusiveSum", [&](void* t, size_t& b) {
    return hipcub::DeviceScan::ExclusiveSum(t, b, in.data, out.data, static_cast<int>(n));
  });
  expect("ExclusiveSum", out.read(), before);
  Device<int> same(values);
  run("in place", [&](void* t, size_t& b) { return hipcub::DeviceScan::ExclusiveSum(t, b, same.data, same.data, n); });
  // the call with one byte less changed nothing
  expect("in place", same.read(), before);

  std::vector<Affine> functions(n), chain(n), chain_before(n);
  for (Affine& f : functions) f = {2 * random_below(1000) + 1, random_below(1000)};
  Affine so_far{1, 0};
  for (size_t i = 0; i < n; ++i) chain[i] = so_far = i == 0 ? functions[0] : Then()(so_far, functions[i]);
  Device<Affine> f_in(functions), f_out(n);
  run("InclusiveScan",
      [&](void* t, size_t& b) { return hipcub::DeviceScan::InclusiveScan(t, b, f_in.data, f_out.data, Then(), n); });
  expect("InclusiveScan", f_out.read(), chain);
  Affine init{3, 4};
  so_far = init;
  for (size_t i = 0; i < n; ++i) chain_before[i] = so_far, so_far = Then()(so_far, functions[i]), chain[i] = so_far;
  run("ExclusiveScan", [&](void* t, size_t& b) {
    return hipcub::DeviceScan::ExclusiveScan(t, b, f_in.data, f_out.data, Then(), init, n);
  });
  expect("ExclusiveScan", f_out.read(), chain_before);
  run("InclusiveScanInit", [&](void* t, size_t& b) {
    return hipcub::DeviceScan::InclusiveScanInit(t, b, f_in.data, f_out.data, Then(), init, n);
  });
  expect("InclusiveScanInit", f_out.read(), chain);
  Device<Affine> future(std::vector<Affine>{init});
  run("FutureValue", [&](void* t, size_t& b) {
    return hipcub::DeviceScan::ExclusiveScan(t, b, f_in.data, f_out.data, Then(),
                                             hipcub::FutureValue<Affine>(future.data), n);
  });
  expect("FutureValue", f_out.read(), chain_before);

  // 8-bit numbers are summed as int, through iterators on both sides
  std::vector<unsigned char> bytes(n);
  for (auto& x : bytes) x = static_cast<unsigned char>(random_below(256));
  Device<unsigned char> b_in(bytes);
  std::vector<int> doubled(n);
  sum = 0;
  for (size_t i = 0; i < n; ++i) doubled[i] = sum += 2 * bytes[i];
  auto twice = [] __device__(unsigned char x) { return 2 * x; };
  hipcub::TransformInputIterator<int, decltype(twice), unsigned char*> iterator(b_in.data, twice);
  run("of an iterator",
      [&](void* t, size_t& b) { return hipcub::DeviceScan::InclusiveSum(t, b, iterator, out.data, n); });
  expect("of an iterator", out.read(), doubled);
}

void segments(size_t n) {
  std::vector<int> begins, values = numbers<int>(n, 2001), sums;
  for (size_t at = 0; at < n; at += random_below(300)) begins.push_back(static_cast<int>(at));
  int count = static_cast<int>(begins.size());
  begins.push_back(static_cast<int>(n));
  Device<int> in(values), offsets(begins), out(count);
  std::vector<hipcub::KeyValuePair<int, int>> most;
  for (int s = 0; s < count; ++s) {
    auto first = values.begin() + begins[s], last = values.begin() + begins[s + 1];
    sums.push_back(std::accumulate(first, last, 0));
    auto found = std::max_element(first, last);
    most.push_back(first == last ? hipcub::KeyValuePair<int, int>(1, INT_MIN)
                                 : hipcub::KeyValuePair<int, int>(static_cast<int>(found - first), *found));
  }
  run("segments", [&](void* t, size_t& b) {
    return hipcub::DeviceSegmentedReduce::Sum(t, b, in.data, out.data, count, offsets.data, offsets.data + 1);
  });
  expect("segments", out.read(), sums);
  Device<hipcub::KeyValuePair<int, int>> pairs(count);
  run("segments' ArgMax", [&](void* t, size_t& b) {
    return hipcub::DeviceSegmentedReduce::ArgMax(t, b, in.data, pairs.data, count, offsets.data, offsets.data + 1);
  });
  expect("segments' ArgMax", pairs.read(), most);
}

int main(int argc, char** argv) {
  size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000;
  for (size_t n : sizes(most)) {
    int before = failures;
    reductions(n);
    scans(n);
    by_key(n);
    segments(n);
    if (failures != before) std::printf("... with %zu items\n", n);
  }
  return finished();
}
