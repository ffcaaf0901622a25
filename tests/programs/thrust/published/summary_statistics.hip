// Count, least, greatest, mean, variance, skewness and kurtosis in one pass; the norm of a vector; its bounding box.
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

#include <algorithm>
#include <cmath>

#include "../check.h"

// Number, least, greatest, mean, and sums of the second and third powers of the distances from it.
template <typename T>
struct Summary {
  T n, least, greatest, mean, second, third;
};
template <typename T>
struct One {
  __host__ __device__ Summary<T> operator()(const T& x) const { return {1, x, x, x, 0, 0}; }
};
// T. Terriberry, "Computing higher-order moments online" (2008).
template <typename T>
struct Join {
  __host__ __device__ Summary<T> operator()(const Summary<T>& a, const Summary<T>& b) const {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    Summary<T> all;
    all.n = a.n + b.n;
    all.least = thrust::min(a.least, b.least);
    all.greatest = thrust::max(a.greatest, b.greatest);
    T delta = b.mean - a.mean;
    all.mean = a.mean + delta * b.n / all.n;
    all.second = a.second + b.second + delta * delta * a.n * b.n / all.n;
    all.third = a.third + b.third + delta * delta * delta * a.n * b.n * (a.n - b.n) / (all.n * all.n) +
                3 * delta * (a.n * b.second - b.n * a.second) / all.n;
    return all;
  }
};
struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};
using Box = thrust::tuple<float, float, float, float>;
using Point = thrust::tuple<float, float>;
struct BoxOf {
  __host__ __device__ Box operator()(const Point& p) const {
    return Box(thrust::get<0>(p), thrust::get<1>(p), thrust::get<0>(p), thrust::get<1>(p));
  }
};
struct JoinBoxes {
  __host__ __device__ Box operator()(const Box& a, const Box& b) const {
    return thrust::make_tuple(thrust::min(thrust::get<0>(a), thrust::get<0>(b)),
                              thrust::min(thrust::get<1>(a), thrust::get<1>(b)),
                              thrust::max(thrust::get<2>(a), thrust::get<2>(b)),
                              thrust::max(thrust::get<3>(a), thrust::get<3>(b)));
  }
};

int main() {
  std::vector<int> numbers = data(5000, 1000);
  std::vector<double> x(numbers.begin(), numbers.end());
  double n = static_cast<double>(x.size()), mean = 0, second = 0, third = 0;
  for (double one : x) mean += one / n;
  for (double one : x) second += std::pow(one - mean, 2), third += std::pow(one - mean, 3);
  thrust::device_vector<double> d = x;
  Summary<double> found =
      thrust::transform_reduce(d.begin(), d.end(), One<double>(), Summary<double>{0, 0, 0, 0, 0, 0}, Join<double>());
  CHECK(found.n == n && found.least == *std::min_element(x.begin(), x.end()));
  CHECK(found.greatest == *std::max_element(x.begin(), x.end()) && std::abs(found.mean - mean) < 1e-9);
  CHECK(std::abs(found.second - second) < 1e-6 * second);
  CHECK(std::abs(found.third - third) < 1e-6 * std::pow(second, 1.5));

  thrust::device_vector<float> v{1, 2, 3, 4};
  CHECK(std::sqrt(thrust::transform_reduce(v.begin(), v.end(), Square(), 0.0f, thrust::plus<float>())) ==
        std::sqrt(30.0f));

  thrust::host_vector<Point> points(1000);
  for (int i = 0; i < 1000; ++i) points[i] = thrust::make_tuple(std::sin(i * 1.0f) * i, 50.0f - i);
  thrust::device_vector<Point> on_device = points;
  Box box = thrust::transform_reduce(on_device.begin(), on_device.end(), BoxOf(), BoxOf()(points[0]), JoinBoxes());
  Box wanted = BoxOf()(points[0]);
  for (Point p : points) wanted = JoinBoxes()(wanted, BoxOf()(p));
  CHECK(box == wanted);
  return checked(6);
}
