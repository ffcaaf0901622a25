// hipcub::DeviceRadixSort, DeviceMergeSort, DeviceMerge, DeviceSegmentedRadixSort, DeviceSegmentedSort against the
// host.
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "check.h"

template <typename T>
T random_key() {
  uint64_t bits[2] = {uint64_t(generator()()) << 32 | generator()(), uint64_t(generator()()) << 32 | generator()()};
  if constexpr (std::is_same_v<T, bool>) return bits[0] & 1;
  T x;
  std::memcpy(&x, bits, sizeof(T));
  unsigned kind = random_below(16);
  if constexpr (std::is_floating_point_v<T>) {  // no NaN: the host's < does not order it
    if (x != x || kind == 0) return std::numeric_limits<T>::infinity();
    if (kind == 1) return T(0);
    if (kind == 2) return -T(0);
    if (kind == 3) return -std::numeric_limits<T>::infinity();
    if (kind < 6) return T(static_cast<int>(random_below(9)) - 4);
  } else if (kind < 4) {
    return static_cast<T>(random_below(5));
  }
  return x;
}
template <typename T>
std::vector<T> random_keys(size_t n) {
  std::vector<T> made(n);
  for (T& x : made) x = random_key<T>();
  return made;
}
// Equal in all bits: zeros with and without a sign stay as they were. And no vector<bool>.
template <typename T>
struct Bits {
  T value;
  bool operator==(const Bits& other) const { return std::memcmp(&value, &other.value, sizeof(T)) == 0; }
};

template <typename T>
void radix(const char* what, size_t n) {
  std::vector<Bits<T>> keys(n);
  for (auto& key : keys) key.value = random_key<T>();
  std::vector<unsigned> order(n);
  std::iota(order.begin(), order.end(), 0u);
  Device<Bits<T>> in(keys), out(n);
  Device<unsigned> values(order), values_out(n);
  auto sorted = [&](auto less) {
    auto made = order;
    std::stable_sort(made.begin(), made.end(),
                     [&](unsigned a, unsigned b) { return less(keys[a].value, keys[b].value); });
    return made;
  };
  auto ascending = sorted([](T a, T b) { return a < b; }), descending = sorted([](T a, T b) { return b < a; });
  auto of = [&](const std::vector<unsigned>& which) {
    std::vector<Bits<T>> made(n);
    for (size_t i = 0; i < n; ++i) made[i] = keys[which[i]];
    return made;
  };
  const T* from = &in.data->value;
  T* to = &out.data->value;
  run(what, [&](void* t, size_t& b) { return hipcub::DeviceRadixSort::SortKeys(t, b, from, to, n); });
  expect(what, out.read(), of(ascending));
  run(what, [&](void* t, size_t& b) {
    return hipcub::DeviceRadixSort::SortPairsDescending(t, b, from, to, values.data, values_out.data,
                                                        static_cast<int>(n));
  });
  expect(what, out.read(), of(descending));
  expect(what, values_out.read(), descending);
  expect(what, in.read(), keys);
}

void radix_forms(size_t n) {
  // some bits only, of two buffers
  auto keys = random_keys<unsigned>(n);
  for (auto bits : {std::pair(0, 32), std::pair(3, 14), std::pair(8, 16), std::pair(5, 5), std::pair(0, 17)}) {
    int low = bits.first, high = bits.second;
    unsigned mask = high - low == 32 ? ~0u : ((1u << (high - low)) - 1u);
    auto wanted = keys;
    std::stable_sort(wanted.begin(), wanted.end(),
                     [&](unsigned a, unsigned b) { return ((a >> low) & mask) < ((b >> low) & mask); });
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](unsigned a, unsigned b) { return ((keys[a] >> low) & mask) < ((keys[b] >> low) & mask); });
    std::vector<unsigned> first(n);
    std::iota(first.begin(), first.end(), 0u);
    Device<unsigned> a(keys), b(n), values(first), other(n);
    hipcub::DoubleBuffer<unsigned> buffer(a.data, b.data), pairs(values.data, other.data);
    run("buffers", [&](void* t, size_t& bytes) {
      return hipcub::DeviceRadixSort::SortPairs(t, bytes, buffer, pairs, n, low, high);
    });
    expect("buffers: keys", buffer.Current() == a.data ? a.read() : b.read(), wanted);
    expect("buffers: values", pairs.Current() == values.data ? values.read() : other.read(), order);
    Device<unsigned> in(keys), out(n);
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    run("bits", [&](void* t, size_t& bytes) {
      return hipcub::DeviceRadixSort::SortKeys(t, bytes, in.data, out.data, n, low, high, stream);
    });
    HIP(hipStreamDestroy(stream));
    expect("bits", out.read(), wanted);
  }
}

struct Record {
  unsigned key;
  unsigned char name[7];
  double weight;
  bool operator==(const Record& o) const { return key == o.key && weight == o.weight && name[3] == o.name[3]; }
};
struct ByKey {
  __host__ __device__ bool operator()(const Record& a, const Record& b) const { return a.key % 100 < b.key % 100; }
};

void merges(size_t n) {
  std::vector<Record> records(n);
  for (size_t i = 0; i < n; ++i) {
    records[i].key = generator()();
    for (auto& c : records[i].name) c = static_cast<unsigned char>(i);
    records[i].weight = static_cast<double>(i);
  }
  auto wanted = records;
  std::stable_sort(wanted.begin(), wanted.end(), ByKey());
  {
    Device<Record> in(records), out(n);
    run("merge sort: copy",
        [&](void* t, size_t& b) { return hipcub::DeviceMergeSort::SortKeysCopy(t, b, in.data, out.data, n, ByKey()); });
    expect("merge sort: copy", out.read(), wanted);
    run("merge sort",
        [&](void* t, size_t& b) { return hipcub::DeviceMergeSort::StableSortKeys(t, b, in.data, n, ByKey()); });
    expect("merge sort", in.read(), wanted);
  }
  auto keys = random_keys<float>(n);
  std::vector<int> order(n), values(n);
  std::iota(values.begin(), values.end(), 0);
  order = values;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[b] < keys[a]; });
  Device<float> k(keys);
  Device<int> v(values);
  auto greater = [] __device__(float a, float b) { return b < a; };
  run("merge sort: pairs", [&](void* t, size_t& b) {
    return hipcub::DeviceMergeSort::SortPairs(t, b, k.data, v.data, static_cast<int>(n), greater);
  });
  expect("merge sort: pairs", v.read(), order);
  // merge
  std::vector<int> one = random_keys<int>(n), two = random_keys<int>(n / 3 + 2), both;
  std::sort(one.begin(), one.end());
  std::sort(two.begin(), two.end());
  std::merge(one.begin(), one.end(), two.begin(), two.end(), std::back_inserter(both));
  Device<int> d1(one), d2(two), d3(both.size());
  run("merge", [&](void* t, size_t& b) {
    return hipcub::DeviceMerge::MergeKeys(t, b, d1.data, static_cast<int>(one.size()), d2.data,
                                          static_cast<int>(two.size()), d3.data);
  });
  expect("merge", d3.read(), both);
}

void segments(size_t n, unsigned longest) {
  std::vector<int> begins;
  for (size_t at = 0; at < n; at += random_below(longest)) begins.push_back(static_cast<int>(at));
  int count = static_cast<int>(begins.size());
  begins.push_back(static_cast<int>(n));
  auto keys = random_keys<short>(n);
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 0);
  auto order = values, down = values;
  for (int s = 0; s < count; ++s) {
    std::stable_sort(order.begin() + begins[s], order.begin() + begins[s + 1],
                     [&](int a, int b) { return keys[a] < keys[b]; });
    std::stable_sort(down.begin() + begins[s], down.begin() + begins[s + 1],
                     [&](int a, int b) { return keys[a] > keys[b]; });
  }
  std::vector<short> sorted(n);
  for (size_t i = 0; i < n; ++i) sorted[i] = keys[down[i]];
  Device<short> k(keys), k_out(n);
  Device<int> v(values), v_out(n), offsets(begins);
  int items = static_cast<int>(n);
  run("segmented radix sort", [&](void* t, size_t& b) {
    return hipcub::DeviceSegmentedRadixSort::SortPairs(t, b, k.data, k_out.data, v.data, v_out.data, items, count,
                                                       offsets.data, offsets.data + 1);
  });
  expect("segmented radix sort", v_out.read(), order);
  run("segmented sort", [&](void* t, size_t& b) {
    return hipcub::DeviceSegmentedSort::StableSortKeysDescending(t, b, k.data, k_out.data, items, count, offsets.data,
                                                                 offsets.data + 1);
  });
  expect("segmented sort", k_out.read(), sorted);
  hipcub::DoubleBuffer<short> buffer(k.data, k_out.data);
  hipcub::DoubleBuffer<int> pairs(v.data, v_out.data);
  run("segmented sort of buffers", [&](void* t, size_t& b) {
    return hipcub::DeviceSegmentedSort::SortPairsDescending(t, b, buffer, pairs, items, count, offsets.data,
                                                            offsets.data + 1);
  });
  expect("segmented sort of buffers", (pairs.Current() == v.data ? v : v_out).read(), down);
  expect("segmented sort of buffers", (buffer.Current() == k.data ? k : k_out).read(), sorted);
}

int main(int argc, char** argv) {
  size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000;
  for (size_t n : sizes(most)) {
    int before = failures;
    radix<unsigned>("unsigned", n);
    radix<signed char>("signed char", n);
    radix<float>("float", n);
    radix<double>("double", n);
    radix<long long>("long long", n);
    radix<bool>("bool", n);
    radix_forms(n);
    merges(n);
    segments(n, 20);
    segments(n, 2000);
    if (failures != before) std::printf("... with %zu items\n", n);
  }
  return finished();
}
