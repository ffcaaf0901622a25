// The greatest eigenvalue of a sparse matrix in coordinates, and matrix products with an own policy's stream; expand.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cmath>

#include "../check.h"

int main() {
  // the second difference: 2 on the diagonal, -1 beside it; its eigenvalues are 2 - 2 cos(k pi / (n + 1))
  const int n = 40;
  std::vector<int> rows, columns;
  std::vector<double> entries;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      rows.push_back(i);
      columns.push_back(j);
      entries.push_back(i == j ? 2.0 : -1.0);
    }
  }
  thrust::device_vector<int> row = rows, column = columns, out_row(n);
  thrust::device_vector<double> entry = entries, products(entries.size()), x(n), y(n);
  thrust::sequence(x.begin(), x.end(), 1.0, 0.37);
  hipStream_t stream;
  if (hipStreamCreate(&stream) != hipSuccess) return 1;
  auto policy = thrust::hip::par.on(stream);
  double value = 0;
  for (int step = 0; step < 60; ++step) {
    auto factors = thrust::make_permutation_iterator(x.begin(), column.begin());
    thrust::transform(policy, entry.begin(), entry.end(), factors, products.begin(), thrust::multiplies<double>());
    thrust::reduce_by_key(policy, row.begin(), row.end(), products.begin(), out_row.begin(), y.begin());
    double size = std::sqrt(thrust::inner_product(policy, y.begin(), y.end(), y.begin(), 0.0));
    value = thrust::inner_product(policy, x.begin(), x.end(), y.begin(), 0.0) /
            thrust::inner_product(policy, x.begin(), x.end(), x.begin(), 0.0);
    using namespace thrust::placeholders;
    thrust::transform(policy, y.begin(), y.end(), x.begin(), _1 / size);
  }
  CHECK(std::abs(value - (2 + 2 * std::cos(3.14159265358979 / (n + 1)))) < 0.05);

  // each value as often as its count says: [2, 0, 3, 1] of [10, 20, 30, 40]
  thrust::device_vector<int> counts{2, 0, 3, 1}, values{10, 20, 30, 40}, offsets(4);
  int size = thrust::reduce(counts.begin(), counts.end());
  thrust::exclusive_scan(counts.begin(), counts.end(), offsets.begin());
  thrust::device_vector<int> places(size, 0), expanded(size);
  thrust::scatter_if(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(4), offsets.begin(),
                     counts.begin(), places.begin());
  thrust::inclusive_scan(places.begin(), places.end(), places.begin(), thrust::maximum<int>());
  thrust::gather(places.begin(), places.end(), values.begin(), expanded.begin());
  CHECK(expanded == (std::vector<int>{10, 10, 30, 30, 30, 40}));
  return hipStreamDestroy(stream) != hipSuccess || checked(2);
}
