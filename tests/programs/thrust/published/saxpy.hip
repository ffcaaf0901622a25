// y = a * x + y: with a function object, with placeholders, with a lambda over a zip iterator.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>

#include <cmath>

#include "../check.h"

struct Saxpy {
  const float a;
  Saxpy(float given) : a(given) {}
  __host__ __device__ float operator()(const float& x, const float& y) const { return a * x + y; }
};

int main() {
  const int n = 1 << 16;
  std::vector<float> x(n), y(n), wanted(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 100);
    y[i] = static_cast<float>(i % 7);
    wanted[i] = 4 * (2 * x[i] + y[i]);
  }
  thrust::device_vector<float> dx = x, dy = y;
  thrust::transform(dx.begin(), dx.end(), dy.begin(), dy.begin(), Saxpy(2.0f));
  using namespace thrust::placeholders;
  thrust::transform(dy.begin(), dy.end(), dy.begin(), dy.begin(), 2.0f * _1 + _2);
  auto both = thrust::make_zip_iterator(thrust::make_tuple(dx.begin(), dy.begin()));
  float third = 1.0f / 3.0f;
  thrust::for_each(both, both + n, [=] __device__(thrust::tuple<float&, float&> one) {
    thrust::get<1>(one) += third * thrust::get<1>(one) + 0.0f * thrust::get<0>(one);
  });
  std::vector<float> found(n);
  thrust::copy(dy.begin(), dy.end(), found.begin());
  int right = 0;
  for (int i = 0; i < n; ++i) right += std::abs(found[i] - wanted[i]) <= 1e-5f * wanted[i];
  CHECK(right == n);
  return checked(1);
}
