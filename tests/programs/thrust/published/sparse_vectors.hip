// The sum of two sparse vectors, by merging their indices; dot products of many 3D vectors; sums of a matrix's rows.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>

#include <cmath>
#include <map>

#include "../check.h"

using Vector3 = thrust::tuple<float, float, float>;
struct Dot {
  __host__ __device__ float operator()(const Vector3& a, const Vector3& b) const {
    return thrust::get<0>(a) * thrust::get<0>(b) + thrust::get<1>(a) * thrust::get<1>(b) +
           thrust::get<2>(a) * thrust::get<2>(b);
  }
};
struct RowOf {
  int columns;
  __host__ __device__ int operator()(int i) const { return i / columns; }
};

void sum_sparse(int n) {
  std::vector<int> gaps = data(2 * n, 5);
  std::vector<int> a_index(n), b_index(n);
  std::vector<float> a_value(n), b_value(n);
  std::map<int, float> wanted;
  for (int i = 0, a = 0, b = 0; i < n; ++i) {
    a_index[i] = a += 1 + gaps[i];
    b_index[i] = b += 1 + gaps[n + i];
    wanted[a] += a_value[i] = i * 0.5f;
    wanted[b] += b_value[i] = 1.0f + i;
  }
  thrust::device_vector<int> ai = a_index, bi = b_index, index(2 * n);
  thrust::device_vector<float> av = a_value, bv = b_value, value(2 * n);
  thrust::merge_by_key(ai.begin(), ai.end(), bi.begin(), bi.end(), av.begin(), bv.begin(), index.begin(),
                       value.begin());
  int size = thrust::inner_product(index.begin(), index.end() - 1, index.begin() + 1, 1, thrust::plus<int>(),
                                   thrust::not_equal_to<int>());
  thrust::device_vector<int> c_index(size);
  thrust::device_vector<float> c_value(size);
  thrust::reduce_by_key(index.begin(), index.end(), value.begin(), c_index.begin(), c_value.begin(),
                        thrust::equal_to<int>(), thrust::plus<float>());
  std::vector<int> keys;
  std::vector<float> values;
  for (auto& one : wanted) {
    keys.push_back(one.first);
    values.push_back(one.second);
  }
  CHECK(c_index == keys && c_value == values);
}

int main() {
  sum_sparse(3000);
  const int n = 1000;
  thrust::device_vector<float> a0(n, 1), a1(n, 2), a2(n, 3), b0(n), b1(n, 1), b2(n, 2), result(n);
  thrust::sequence(b0.begin(), b0.end());
  auto a = thrust::make_zip_iterator(thrust::make_tuple(a0.begin(), a1.begin(), a2.begin()));
  auto b = thrust::make_zip_iterator(thrust::make_tuple(b0.begin(), b1.begin(), b2.begin()));
  thrust::transform(a, a + n, b, result.begin(), Dot());
  CHECK(result[0] == 8.0f && result[500] == 508.0f && result[n - 1] == n + 7.0f);

  const int rows = 40, columns = 30;
  thrust::device_vector<int> matrix = data(rows * columns, 90), sums(rows);
  auto row = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), RowOf{columns});
  thrust::reduce_by_key(row, row + rows * columns, matrix.begin(), thrust::make_discard_iterator(), sums.begin());
  std::vector<int> wanted(rows), numbers = data(rows * columns, 90);
  for (int i = 0; i < rows * columns; ++i) wanted[i / columns] += numbers[i];
  CHECK(sums == wanted);
  return checked(3);
}
