// Thrust: word frequencies of numbers, Monte Carlo pi, saxpy, argmax, sparse vector sum
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/extrema.h>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <vector>

struct saxpy_functor {
  const float a;
  saxpy_functor(float _a) : a(_a) {}
  __host__ __device__ float operator()(const float& x, const float& y) const { return a * x + y; }
};

struct inside {
  __host__ __device__ int operator()(unsigned i) const {
    unsigned h = i * 2654435761u;
    h ^= h >> 15; h *= 2246822519u; h ^= h >> 13;
    unsigned g = h * 3266489917u;
    g ^= g >> 16;
    float x = (h >> 8) * (1.0f / 16777216), y = (g >> 8) * (1.0f / 16777216);
    return x * x + y * y <= 1.0f;
  }
};

struct is_odd { __host__ __device__ bool operator()(int v) const { return v & 1; } };

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 4000;
  int failed = 0;
  auto expect = [&](const char* what, bool right) { std::cout << what << (right ? ": ok" : ": WRONG") << std::endl; failed += !right; };

  thrust::host_vector<int> h(n);
  for (int i = 0; i < n; i++) h[i] = (i * 7919) % 97;
  thrust::device_vector<int> d = h;
  thrust::sort(d.begin(), d.end());
  thrust::device_vector<int> words(n), counts(n);
  auto ends = thrust::reduce_by_key(d.begin(), d.end(), thrust::constant_iterator<int>(1), words.begin(), counts.begin());
  const int distinct = ends.first - words.begin();
  std::map<int, int> tally;
  for (int i = 0; i < n; i++) tally[h[i]]++;
  bool same = distinct == (int)tally.size();
  int at = 0;
  for (auto& t : tally) { if (same) same = words[at] == t.first && counts[at] == t.second; at++; }
  expect("frequencies", same);

  const int hits = thrust::transform_reduce(thrust::device, thrust::counting_iterator<unsigned>(0), thrust::counting_iterator<unsigned>(20000), inside(), 0, thrust::plus<int>());
  int host_hits = 0;
  for (unsigned i = 0; i < 20000; i++) host_hits += inside()(i);
  expect("pi", std::abs(hits - host_hits) <= 1 && std::fabs(4.0 * hits / 20000 - 3.14159) < 0.05);

  thrust::device_vector<float> x(n), y(n, 2.0f);
  thrust::sequence(x.begin(), x.end());
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy_functor(3.0f));
  thrust::host_vector<float> hy = y;
  same = true;
  for (int i = 0; i < n; i++) same = same && hy[i] == 3.0f * i + 2.0f;
  expect("saxpy", same);
  y[n / 3] = 1e9f;
  const auto top = thrust::max_element(y.begin(), y.end());
  expect("max_element", top - y.begin() == n / 3 && *top == 1e9f);

  thrust::device_vector<int> odd(n), keys(n), values(n);
  d = h;
  odd.resize(thrust::copy_if(d.begin(), d.end(), odd.begin(), is_odd()) - odd.begin());
  std::vector<int> host_odd;
  std::copy_if(h.begin(), h.end(), std::back_inserter(host_odd), is_odd());
  thrust::host_vector<int> back = odd;
  expect("copy_if", host_odd.size() == back.size() && std::equal(host_odd.begin(), host_odd.end(), back.begin()));

  thrust::copy(d.begin(), d.end(), keys.begin());
  thrust::sequence(values.begin(), values.end());
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin(), thrust::greater<int>());
  std::vector<int> order(n);
  for (int i = 0; i < n; i++) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return h[a] > h[b]; });
  thrust::host_vector<int> hv = values;
  expect("stable_sort_by_key", std::equal(order.begin(), order.end(), hv.begin()));

  thrust::exclusive_scan(d.begin(), d.end(), values.begin(), 100);
  hv = values;
  int sum = 100;
  same = true;
  for (int i = 0; i < n; i++) { same = same && hv[i] == sum; sum += h[i]; }
  expect("exclusive_scan", same);
  int* raw = thrust::raw_pointer_cast(d.data());
  int first;
  if (hipMemcpy(&first, raw + 1, sizeof first, hipMemcpyDeviceToHost) != hipSuccess) failed++;
  expect("raw pointer", first == h[1]);
  std::cout << (failed ? "FAILED" : "PASSED") << std::endl;
  return failed;
}
