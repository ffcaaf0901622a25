// The most frequent value; sets of numbers; duplicates removed; points in a circle removed; vertices welded.
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <algorithm>
#include <map>

#include "../check.h"

struct FarAway {
  template <typename Tuple>
  __host__ __device__ bool operator()(const Tuple& p) const {
    float x = thrust::get<0>(p), y = thrust::get<1>(p);
    return x * x + y * y > 1.0f;
  }
};

int main() {
  std::vector<int> numbers = data(2000, 40);
  std::map<int, int> counted;
  for (int one : numbers) ++counted[one];
  auto most = std::max_element(counted.begin(), counted.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; });
  thrust::device_vector<int> d = numbers;
  thrust::sort(d.begin(), d.end());
  thrust::device_vector<int> values(counted.size()), counts(counted.size());
  thrust::reduce_by_key(d.begin(), d.end(), thrust::constant_iterator<int>(1), values.begin(), counts.begin());
  auto mode = thrust::max_element(counts.begin(), counts.end());
  CHECK(values[mode - counts.begin()] == most->first && *mode == most->second);

  int odd[] = {1, 3, 5, 7, 9, 9}, small[] = {1, 2, 3, 4, 5};
  thrust::device_vector<int> a(odd, odd + 6), b(small, small + 5), c(11);
  c.erase(thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), c.begin()), c.end());
  CHECK(c == (std::vector<int>{1, 3, 5}));

  const int n = 1000;
  std::vector<int> xs = data(n, 200), ys = data(n, 200, 2);
  std::vector<float> x(n), y(n), wanted_x;
  for (int i = 0; i < n; ++i) {
    x[i] = xs[i] / 100.0f - 1;
    y[i] = ys[i] / 100.0f - 1;
    if (!FarAway()(thrust::make_tuple(x[i], y[i]))) wanted_x.push_back(x[i]);
  }
  thrust::device_vector<float> dx = x, dy = y;
  auto first = thrust::make_zip_iterator(thrust::make_tuple(dx.begin(), dy.begin()));
  auto last = thrust::remove_if(first, first + n, FarAway());
  dx.resize(last - first);
  dy.resize(last - first);
  CHECK(dx == wanted_x);

  // three triangles with common corners become a list of corners and indices into it
  using Vertex = thrust::pair<float, float>;
  std::vector<Vertex> mesh{{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}, {1, 0}, {2, 0}, {1, 1}};
  thrust::device_vector<Vertex> input = mesh, vertices = input;
  thrust::device_vector<unsigned int> indices(input.size());
  thrust::sort(vertices.begin(), vertices.end());
  vertices.erase(thrust::unique(vertices.begin(), vertices.end()), vertices.end());
  thrust::lower_bound(vertices.begin(), vertices.end(), input.begin(), input.end(), indices.begin());
  CHECK(vertices.size() == 5 && indices == (std::vector<unsigned int>{0, 2, 1, 2, 3, 1, 2, 4, 3}));
  return checked(4);
}
