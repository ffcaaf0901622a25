// Points of the plane sorted into the buckets of a grid, and each bucket's range.
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include "../check.h"

struct Bucket {
  unsigned int width, height;
  __host__ __device__ unsigned int operator()(const float2& p) const {
    unsigned int x = static_cast<unsigned int>(p.x * width), y = static_cast<unsigned int>(p.y * height);
    return y * width + x;
  }
};

int main() {
  const int n = 20000;
  const unsigned int width = 20, height = 10;
  std::vector<int> xs = data(n, 1000), ys = data(n, 1000, 2);
  std::vector<float2> points(n);
  for (int i = 0; i < n; ++i) points[i] = make_float2(xs[i] / 1000.0f, ys[i] / 1000.0f);
  thrust::device_vector<float2> p = points;
  thrust::device_vector<unsigned int> bucket(n), begins(width * height), ends(width * height);
  Bucket of{width, height};
  thrust::transform(p.begin(), p.end(), bucket.begin(), of);
  thrust::sort_by_key(bucket.begin(), bucket.end(), p.begin());
  thrust::counting_iterator<unsigned int> first(0);
  thrust::lower_bound(bucket.begin(), bucket.end(), first, first + width * height, begins.begin());
  thrust::upper_bound(bucket.begin(), bucket.end(), first, first + width * height, ends.begin());

  std::vector<unsigned int> counts(width * height);
  for (const float2& one : points) ++counts[of(one)];
  std::vector<float2> sorted(n);
  thrust::copy(p.begin(), p.end(), sorted.begin());
  std::vector<unsigned int> from(width * height), to(width * height);
  thrust::copy(begins.begin(), begins.end(), from.begin());
  thrust::copy(ends.begin(), ends.end(), to.begin());
  bool right = true;
  for (unsigned int b = 0; b < width * height; ++b) {
    right = right && to[b] - from[b] == counts[b];
    for (unsigned int i = from[b]; i < to[b]; ++i) right = right && of(sorted[i]) == b;
  }
  CHECK(right && from[0] == 0 && to[width * height - 1] == n);
  return checked(1);
}
