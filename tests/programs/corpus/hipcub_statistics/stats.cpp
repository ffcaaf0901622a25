// Statistics of a column of numbers with hipCUB: device-wide reduce, sort, scan, run-length encoding, histogram; a block kernel
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>
#include <algorithm>
#include <iterator>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <vector>

#define HIP_CHECK(x) { hipError_t e = x; if (e != hipSuccess) { fprintf(stderr, "%s\n", hipGetErrorString(e)); exit(1); } }

template <int THREADS, int ITEMS>
__global__ void block_sort(const int* in, int* out, int* sums) {
  using Load = hipcub::BlockLoad<int, THREADS, ITEMS, hipcub::BLOCK_LOAD_TRANSPOSE>;
  using Store = hipcub::BlockStore<int, THREADS, ITEMS, hipcub::BLOCK_STORE_TRANSPOSE>;
  using Sort = hipcub::BlockRadixSort<int, THREADS, ITEMS>;
  using Reduce = hipcub::BlockReduce<int, THREADS>;
  __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Sort::TempStorage sort; typename Reduce::TempStorage reduce; } temp;
  int items[ITEMS], base = blockIdx.x * THREADS * ITEMS;
  Load(temp.load).Load(in + base, items);
  __syncthreads();
  Sort(temp.sort).Sort(items);
  __syncthreads();
  int sum = Reduce(temp.reduce).Sum(items);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  Store(temp.store).Store(out + base, items);
}

struct Even { __host__ __device__ bool operator()(int a) const { return (a & 1) == 0; } };
struct Maximum { __host__ __device__ int operator()(int a, int b) const { return a > b ? a : b; } };

template <class F> void with_storage(F f) {
  void* storage = nullptr;
  size_t bytes = 0;
  HIP_CHECK(f(storage, bytes));
  HIP_CHECK(hipMalloc(&storage, bytes));
  HIP_CHECK(f(storage, bytes));
  HIP_CHECK(hipFree(storage));
}

int main(int argc, char** argv) {
  constexpr int THREADS = 128, ITEMS = 4, TILE = THREADS * ITEMS;
  const int tiles = argc > 1 ? atoi(argv[1]) : 10, n = tiles * TILE;
  std::vector<int> h(n), want, got(n);
  srand(2);
  for (int& v : h) v = rand() % 300 - 50;
  int *in, *out, *small, *counts, *runs;
  HIP_CHECK(hipMalloc(&in, n * 4)); HIP_CHECK(hipMalloc(&out, n * 4)); HIP_CHECK(hipMalloc(&small, n * 4)); HIP_CHECK(hipMalloc(&counts, n * 4)); HIP_CHECK(hipMalloc(&runs, 4));
  HIP_CHECK(hipMemcpy(in, h.data(), n * 4, hipMemcpyHostToDevice));
  int failed = 0, value = 0;
  auto expect = [&](const char* what, bool right) { printf("%-12s %s\n", what, right ? "ok" : "WRONG"); failed += !right; };

  with_storage([&](void* s, size_t& b) { return hipcub::DeviceReduce::Sum(s, b, in, runs, n); });
  HIP_CHECK(hipMemcpy(&value, runs, 4, hipMemcpyDeviceToHost));
  expect("sum", value == std::accumulate(h.begin(), h.end(), 0));
  with_storage([&](void* s, size_t& b) { return hipcub::DeviceReduce::Reduce(s, b, in, runs, n, Maximum(), -1000); });
  HIP_CHECK(hipMemcpy(&value, runs, 4, hipMemcpyDeviceToHost));
  expect("maximum", value == *std::max_element(h.begin(), h.end()));
  with_storage([&](void* s, size_t& b) { return hipcub::DeviceScan::InclusiveSum(s, b, in, out, n); });
  HIP_CHECK(hipMemcpy(got.data(), out, n * 4, hipMemcpyDeviceToHost));
  want.resize(n);
  std::partial_sum(h.begin(), h.end(), want.begin());
  expect("scan", got == want);
  with_storage([&](void* s, size_t& b) { return hipcub::DeviceRadixSort::SortKeys(s, b, in, out, n); });
  HIP_CHECK(hipMemcpy(got.data(), out, n * 4, hipMemcpyDeviceToHost));
  want = h;
  std::sort(want.begin(), want.end());
  expect("sort", got == want);
  with_storage([&](void* s, size_t& b) { return hipcub::DeviceRunLengthEncode::Encode(s, b, out, small, counts, runs, n); });
  HIP_CHECK(hipMemcpy(&value, runs, 4, hipMemcpyDeviceToHost));
  std::map<int, int> tally;
  for (int v : h) tally[v]++;
  std::vector<int> keys(value), times(value);
  HIP_CHECK(hipMemcpy(keys.data(), small, value * 4, hipMemcpyDeviceToHost));
  HIP_CHECK(hipMemcpy(times.data(), counts, value * 4, hipMemcpyDeviceToHost));
  bool same = (size_t)value == tally.size();
  int at = 0;
  for (auto& t : tally) { if (!same) break; same = keys[at] == t.first && times[at] == t.second; at++; }
  expect("run lengths", same);
  std::vector<int> bins(10), host_bins(10);
  with_storage([&](void* s, size_t& b) { return hipcub::DeviceHistogram::HistogramEven(s, b, in, counts, 11, -50, 250, n); });
  HIP_CHECK(hipMemcpy(bins.data(), counts, 40, hipMemcpyDeviceToHost));
  for (int v : h) host_bins[(v + 50) / 30]++;
  expect("histogram", bins == host_bins);
  with_storage([&](void* s, size_t& b) { return hipcub::DeviceSelect::If(s, b, in, out, runs, n, Even()); });
  HIP_CHECK(hipMemcpy(&value, runs, 4, hipMemcpyDeviceToHost));
  want.clear();
  std::copy_if(h.begin(), h.end(), std::back_inserter(want), Even());
  got.resize(value);
  HIP_CHECK(hipMemcpy(got.data(), out, value * 4, hipMemcpyDeviceToHost));
  expect("even ones", got == want);
  got.resize(n);
  std::vector<int> edges(tiles + 1), least(tiles), host_least(tiles);  // the least of every tile, as segments
  for (int t = 0; t <= tiles; t++) edges[t] = t * TILE;
  HIP_CHECK(hipMemcpy(small, edges.data(), edges.size() * 4, hipMemcpyHostToDevice));
  with_storage([&](void* s, size_t& b) { return hipcub::DeviceSegmentedReduce::Min(s, b, in, counts, tiles, small, small + 1); });
  HIP_CHECK(hipMemcpy(least.data(), counts, tiles * 4, hipMemcpyDeviceToHost));
  for (int t = 0; t < tiles; t++) host_least[t] = *std::min_element(&h[t * TILE], &h[t * TILE] + TILE);
  expect("least", least == host_least);
  block_sort<THREADS, ITEMS><<<tiles, THREADS>>>(in, out, counts);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipMemcpy(got.data(), out, n * 4, hipMemcpyDeviceToHost));
  std::vector<int> sums(tiles), host_sums(tiles);
  HIP_CHECK(hipMemcpy(sums.data(), counts, tiles * 4, hipMemcpyDeviceToHost));
  want = h;
  for (int t = 0; t < tiles; t++) { std::sort(&want[t * TILE], &want[t * TILE] + TILE); host_sums[t] = std::accumulate(&want[t * TILE], &want[t * TILE] + TILE, 0); }
  expect("block sort", got == want && sums == host_sums);
  HIP_CHECK(hipFree(in)); HIP_CHECK(hipFree(out)); HIP_CHECK(hipFree(small)); HIP_CHECK(hipFree(counts)); HIP_CHECK(hipFree(runs));
  puts(failed ? "FAILED" : "PASSED");
  return failed;
}
