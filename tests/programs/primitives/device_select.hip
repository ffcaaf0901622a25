// hipcub::DeviceSelect, DevicePartition, DeviceRunLengthEncode, DeviceHistogram and what is small, against the host.
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "check.h"

struct Odd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Below {
  int limit;
  __host__ __device__ bool operator()(int x) const { return x < limit; }
};

void selections(size_t n) {
  std::vector<int> values(n), flags(n);
  for (int& x : values) x = static_cast<int>(random_below(1000));
  for (int& x : flags) x = random_below(3) == 0 ? 4 : 0;
  Device<int> in(values), out(n), mask(flags), count(1);
  std::vector<int> chosen, rest, flagged, unflagged;
  for (size_t i = 0; i < n; ++i) {
    (Odd()(values[i]) ? chosen : rest).push_back(values[i]);
    (flags[i] ? flagged : unflagged).push_back(values[i]);
  }
  auto check = [&](const char* what, const std::vector<int>& wanted, Device<int>& from) {
    expect_one(what, count.read()[0], static_cast<int>(wanted.size()));
    expect(what, from.read(wanted.size()), wanted);
  };
  auto split = [&](const char* what, std::vector<int> front, const std::vector<int>& back) {
    expect_one(what, count.read()[0], static_cast<int>(front.size()));
    front.insert(front.end(), back.rbegin(), back.rend());
    expect(what, out.read(), front);
  };
  run("If",
      [&](void* t, size_t& b) { return hipcub::DeviceSelect::If(t, b, in.data, out.data, count.data, n, Odd()); });
  check("If", chosen, out);
  run("Flagged", [&](void* t, size_t& b) {
    return hipcub::DeviceSelect::Flagged(t, b, in.data, mask.data, out.data, count.data, static_cast<int>(n));
  });
  check("Flagged", flagged, out);
  run("FlaggedIf", [&](void* t, size_t& b) {
    return hipcub::DeviceSelect::FlaggedIf(t, b, in.data, mask.data, out.data, count.data, n, Below{1});
  });
  check("FlaggedIf", unflagged, out);
  run("Partition::If",
      [&](void* t, size_t& b) { return hipcub::DevicePartition::If(t, b, in.data, out.data, count.data, n, Odd()); });
  split("Partition::If", chosen, rest);
  run("Partition::Flagged", [&](void* t, size_t& b) {
    return hipcub::DevicePartition::Flagged(t, b, in.data, mask.data, out.data, count.data, n);
  });
  split("Partition::Flagged", flagged, unflagged);
  std::vector<int> small, middle, large;
  for (int x : values) (x < 300 ? small : x < 500 ? middle : large).push_back(x);
  Device<int> a(n), c(n), d(n), two(2);
  run("three ways", [&](void* t, size_t& b) {
    return hipcub::DevicePartition::If(t, b, in.data, a.data, c.data, d.data, two.data, n, Below{300}, Below{500});
  });
  expect("three ways", two.read(), {static_cast<int>(small.size()), static_cast<int>(middle.size())});
  expect("three ways: first", a.read(small.size()), small);
  expect("three ways: second", c.read(middle.size()), middle);
  expect("three ways: rest", d.read(large.size()), large);
  Device<int> same(values);
  run("If in place",
      [&](void* t, size_t& b) { return hipcub::DeviceSelect::If(t, b, same.data, count.data, n, Odd()); });
  check("If in place", chosen, same);
}

void runs(size_t n) {
  std::vector<int> keys(n), values(n), unique, lengths, firsts, offsets, long_lengths;
  for (size_t i = 0; i < n; ++i) {
    keys[i] = i != 0 && random_below(3) != 0 ? keys[i - 1] : static_cast<int>(random_below(4));
    values[i] = static_cast<int>(i);
  }
  for (size_t i = 0; i < n; ++i) {
    if (i == 0 || keys[i] != keys[i - 1]) unique.push_back(keys[i]), lengths.push_back(0), firsts.push_back(values[i]);
    ++lengths.back();
  }
  for (size_t r = 0; r < unique.size(); ++r) {
    if (lengths[r] > 1) offsets.push_back(firsts[r]), long_lengths.push_back(lengths[r]);
  }
  Device<int> in(keys), more(values), out(n), out_values(n), count(1);
  run("Unique",
      [&](void* t, size_t& b) { return hipcub::DeviceSelect::Unique(t, b, in.data, out.data, count.data, n); });
  expect_one("Unique", count.read()[0], static_cast<int>(unique.size()));
  expect("Unique", out.read(unique.size()), unique);
  run("UniqueByKey", [&](void* t, size_t& b) {
    return hipcub::DeviceSelect::UniqueByKey(t, b, in.data, more.data, out.data, out_values.data, count.data, n);
  });
  expect("UniqueByKey", out.read(unique.size()), unique);
  expect("UniqueByKey", out_values.read(unique.size()), firsts);
  run("Encode", [&](void* t, size_t& b) {
    return hipcub::DeviceRunLengthEncode::Encode(t, b, in.data, out.data, out_values.data, count.data, n);
  });
  expect_one("Encode", count.read()[0], static_cast<int>(unique.size()));
  expect("Encode: keys", out.read(unique.size()), unique);
  expect("Encode: lengths", out_values.read(unique.size()), lengths);
  run("NonTrivialRuns", [&](void* t, size_t& b) {
    return hipcub::DeviceRunLengthEncode::NonTrivialRuns(t, b, in.data, out.data, out_values.data, count.data, n);
  });
  expect_one("NonTrivialRuns", count.read()[0], static_cast<int>(offsets.size()));
  expect("NonTrivialRuns: offsets", out.read(offsets.size()), offsets);
  expect("NonTrivialRuns: lengths", out_values.read(offsets.size()), long_lengths);
}

void histograms(size_t n) {
  std::vector<float> samples(n);
  for (float& x : samples) x = static_cast<float>(random_below(1200)) / 8 - 10;
  std::vector<int> even(16), range(5);
  std::vector<float> levels = {-5, 0, 1, 50, 51.5f, 130};
  for (float x : samples) {
    if (x >= 0 && x < 128) ++even[static_cast<int>(x / 8)];
    for (int i = 0; i < 5; ++i) range[i] += x >= levels[i] && x < levels[i + 1];
  }
  Device<float> in(samples), limits(levels);
  Device<int> counts(16), counts_range(5);
  run("HistogramEven", [&](void* t, size_t& b) {
    return hipcub::DeviceHistogram::HistogramEven(t, b, in.data, counts.data, 17, 0.0f, 128.0f, static_cast<int>(n));
  });
  expect("HistogramEven", counts.read(), even);
  run("HistogramRange", [&](void* t, size_t& b) {
    return hipcub::DeviceHistogram::HistogramRange(t, b, in.data, counts_range.data, 6, limits.data,
                                                   static_cast<int>(n));
  });
  expect("HistogramRange", counts_range.read(), range);

  // pixels of four channels, three of them counted, in rows with a gap; a bin's width is no whole number
  size_t width = n / 7, rows = 5, stride = width * 4 + 12;
  std::vector<unsigned char> image(stride * rows);
  for (auto& x : image) x = static_cast<unsigned char>(random_below(256));
  std::vector<unsigned> wanted[3] = {std::vector<unsigned>(7), std::vector<unsigned>(256), std::vector<unsigned>(3)};
  int bins[3] = {8, 257, 4}, lower[3] = {0, 0, 100}, upper[3] = {256, 256, 200};
  for (size_t y = 0; y < rows; ++y) {
    for (size_t x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        int s = image[y * stride + x * 4 + c];
        if (s >= lower[c] && s < upper[c]) ++wanted[c][(s - lower[c]) * (bins[c] - 1) / (upper[c] - lower[c])];
      }
    }
  }
  Device<unsigned char> pixels(image);
  Device<unsigned> c0(7), c1(256), c2(3);
  unsigned* all[3] = {c0.data, c1.data, c2.data};
  run("MultiHistogramEven", [&](void* t, size_t& b) {
    return hipcub::DeviceHistogram::MultiHistogramEven<4, 3>(t, b, pixels.data, all, bins, lower, upper,
                                                             static_cast<int>(width), static_cast<int>(rows), stride);
  });
  expect("MultiHistogramEven", c0.read(), wanted[0]);
  expect("MultiHistogramEven", c1.read(), wanted[1]);
  expect("MultiHistogramEven", c2.read(), wanted[2]);
  // more bins than shared memory holds
  std::vector<int> numbers(n), many(20000);
  for (int& x : numbers) x = static_cast<int>(random_below(40000)) - 1000, x >= 0 && x < 40000 ? ++many[x / 2] : 0;
  Device<int> wide(numbers), wide_counts(20000);
  run("many bins", [&](void* t, size_t& b) {
    return hipcub::DeviceHistogram::HistogramEven(t, b, wide.data, wide_counts.data, 20001, 0, 40000,
                                                  static_cast<int>(n));
  });
  expect("many bins", wide_counts.read(), many);
}

void small_ones(size_t n) {
  std::vector<int> values(n), left(n), right(n);
  for (int& x : values) x = static_cast<int>(random_below(1000));
  for (size_t i = 0; i < n; ++i) {
    left[i] = i == 0 ? values[0] : values[i] - values[i - 1];
    right[i] = i + 1 == n ? values[i] : values[i] - values[i + 1];
  }
  Device<int> in(values), out(n);
  run("SubtractLeftCopy", [&](void* t, size_t& b) {
    return hipcub::DeviceAdjacentDifference::SubtractLeftCopy(t, b, in.data, out.data, n);
  });
  expect("SubtractLeftCopy", out.read(), left);
  Device<int> same(values);
  run("SubtractRight",
      [&](void* t, size_t& b) { return hipcub::DeviceAdjacentDifference::SubtractRight(t, b, same.data, n); });
  expect("SubtractRight", same.read(), right);
  int* d = same.data;
  HIP(hipcub::DeviceFor::Bulk(n, [=] __device__(size_t i) { d[i] = static_cast<int>(i * i); }));
  HIP(hipcub::DeviceFor::ForEach(d, d + n, [] __device__(int& x) { x += 1; }));
  std::vector<int> squares(n);
  for (size_t i = 0; i < n; ++i) squares[i] = static_cast<int>(i * i) + 1;
  expect("Bulk and ForEach", same.read(), squares);
  // the odd-numbered thirds of the input, to other places
  unsigned third = static_cast<unsigned>(n / 3);
  std::vector<int*> from = {in.data, in.data + 2 * third}, to = {out.data + third, out.data};
  std::vector<unsigned> items = {third, third};
  Device<int*> sources(from), targets(to);
  Device<unsigned> lengths(items);
  run("DeviceCopy", [&](void* t, size_t& b) {
    return hipcub::DeviceCopy::Batched(t, b, sources.data, targets.data, lengths.data, 2);
  });
  std::vector<int> moved(values.begin() + 2 * third, values.begin() + 3 * third);
  moved.insert(moved.end(), values.begin(), values.begin() + third);
  auto found = out.read();
  found.resize(2 * third);
  expect("DeviceCopy", found, moved);
}

int main(int argc, char** argv) {
  size_t most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5000;
  for (size_t n : sizes(most)) {
    int before = failures;
    selections(n);
    runs(n);
    histograms(n);
    small_ones(n);
    if (failures != before) std::printf("... with %zu items\n", n);
  }
  return finished();
}
