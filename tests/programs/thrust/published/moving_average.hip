// A moving average by a scan; the greatest sum of neighbours (the order matters); segments by scan_by_key.
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <numeric>

#include "../check.h"

struct Average {
  double width;
  __host__ __device__ double operator()(int after, int before) const { return (after - before) / width; }
};

// Of a piece: its sum, the greatest sum from its beginning, to its end, and of neighbours anywhere in it.
struct Piece {
  long sum, prefix, suffix, best;
};
struct PieceOf {
  __host__ __device__ Piece operator()(int x) const {
    long positive = x > 0 ? x : 0;
    return {x, positive, positive, positive};
  }
};
struct JoinPieces {
  __host__ __device__ Piece operator()(const Piece& a, const Piece& b) const {
    return {a.sum + b.sum, thrust::max(a.prefix, a.sum + b.prefix), thrust::max(b.suffix, b.sum + a.suffix),
            thrust::max(thrust::max(a.best, b.best), a.suffix + b.prefix)};
  }
};
struct Segment {
  __host__ __device__ int operator()(int i) const { return i / 13; }
};

int main() {
  const int n = 30000, width = 25;
  std::vector<int> x = data(n, 100);
  thrust::device_vector<int> d = x, sums(n + 1);
  thrust::exclusive_scan(d.begin(), d.end(), sums.begin());
  sums[n] = d.back() + sums[n - 1];
  thrust::device_vector<double> averages(n - width + 1);
  thrust::transform(sums.begin() + width, sums.end(), sums.begin(), averages.begin(), Average{double(width)});
  std::vector<double> wanted(n - width + 1);
  for (int i = 0; i + width <= n; ++i) wanted[i] = std::accumulate(&x[i], &x[i] + width, 0) / double(width);
  CHECK(averages == wanted);

  for (int& one : x) one -= 50;
  d = x;
  long best = 0, here = 0;
  for (int one : x) best = std::max(best, here = std::max(here + one, 0l));
  Piece all = thrust::transform_reduce(d.begin(), d.end(), PieceOf(), Piece{0, 0, 0, 0}, JoinPieces());
  CHECK(all.best == best && all.sum == std::accumulate(x.begin(), x.end(), 0l));

  auto segments = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Segment());
  thrust::inclusive_scan_by_key(segments, segments + n, d.begin(), d.begin());
  for (int i = 0; i < n; ++i)
    if (i % 13) x[i] += x[i - 1];
  CHECK(d == x);
  return checked(3);
}
