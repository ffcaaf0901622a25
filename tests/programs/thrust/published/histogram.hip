// Histograms of random values: dense ones by sort and upper_bound, sparse ones by sort and reduce_by_key.
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

#include "../check.h"

int main() {
  std::vector<int> values = data(10000, 30);
  for (int& one : values) one = one * one / 30;
  std::vector<int> dense(31, 0), sparse_values, sparse_counts;
  for (int one : values) ++dense[one];
  for (int value = 0; value < 31; ++value) {
    if (dense[value] == 0) continue;
    sparse_values.push_back(value);
    sparse_counts.push_back(dense[value]);
  }
  thrust::device_vector<int> sorted = values;
  thrust::sort(sorted.begin(), sorted.end());

  int bins = sorted.back() + 1;
  thrust::device_vector<int> histogram(bins);
  thrust::counting_iterator<int> first(0);
  thrust::upper_bound(sorted.begin(), sorted.end(), first, first + bins, histogram.begin());
  thrust::adjacent_difference(histogram.begin(), histogram.end(), histogram.begin());
  dense.resize(bins);
  CHECK(histogram == dense);

  int different = thrust::inner_product(sorted.begin(), sorted.end() - 1, sorted.begin() + 1, 1, thrust::plus<int>(),
                                        thrust::not_equal_to<int>());
  thrust::device_vector<int> found(different), counts(different);
  thrust::reduce_by_key(sorted.begin(), sorted.end(), thrust::constant_iterator<int>(1), found.begin(), counts.begin());
  CHECK(found == sparse_values && counts == sparse_counts);
  return checked(2);
}
