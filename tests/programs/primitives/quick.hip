// The calls that programs use most, on few items: what `make test` runs of this folder.
#include <hip/hip_runtime.h>
#include <hipcub/block/block_reduce.hpp>
#include <hipcub/device/device_radix_sort.hpp>
#include <hipcub/device/device_scan.hpp>
#include <hipcub/util_device.hpp>

#include <algorithm>
#include <numeric>

#include "check.h"

__global__ void sum(const int* in, int* out) {
  using Reduce = hipcub::BlockReduce<int, 100>;
  __shared__ Reduce::TempStorage storage;
  int total = Reduce(storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = total;
}

int main() {
  for (size_t n : {0, 100, 5000}) {
    std::vector<float> keys(n);
    std::vector<int> order(n), upto(n);
    for (float& x : keys) x = static_cast<float>(static_cast<int>(random_below(300)) - 150) / 4;
    std::iota(order.begin(), order.end(), 0);
    Device<float> in(keys), out(n);
    Device<int> values(order), values_out(n), one(1);
    std::partial_sum(order.begin(), order.end(), upto.begin());
    run("InclusiveSum",
        [&](void* t, size_t& b) { return hipcub::DeviceScan::InclusiveSum(t, b, values.data, values_out.data, n); });
    expect("InclusiveSum", values_out.read(), upto);
    if (n >= 100) {
      sum<<<1, 100>>>(values, one);
      expect_one("BlockReduce", one.read()[0], 4950);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    run("SortPairs", [&](void* t, size_t& b) {
      return hipcub::DeviceRadixSort::SortPairs(t, b, in.data, out.data, values.data, values_out.data, n);
    });
    expect("SortPairs", values_out.read(), order);
    std::sort(keys.begin(), keys.end());
    expect("SortPairs: keys", out.read(), keys);
  }
  // What any header of hipCUB brings along.
  expect_one("Max of two types", hipcub::Max()(3, 4.5f) + hipcub::Min()(0.5, 2.5f), 5.0);
  expect_one("the other way round", hipcub::MakeBinaryFlip(hipcub::Difference())(1, 5), 4);
  void* places[3] = {};
  const size_t sizes[3] = {1, 300, 256};
  size_t bytes = 0;
  if HIPCUB_IF_CONSTEXPR (sizeof(int) == 4) HIP(hipcub::AliasTemporaries(nullptr, bytes, places, sizes));
  Device<char> storage(bytes);
  HIP(hipcub::AliasTemporaries(storage.data, bytes, places, sizes));
  char** at = reinterpret_cast<char**>(places);
  expect_one("one storage for three arrays", at[1] - at[0] == 256 && at[2] - at[1] == 512, true);
  expect_one("it is large enough", at[0] >= storage.data && at[2] + 256 <= storage.data + bytes, true);
  return finished();
}
