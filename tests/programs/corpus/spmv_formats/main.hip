// Sparse matrix-vector products: CSR (scalar and vector), ELL, COO (segmented by atomics), HYB, BSR 2x2
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#ifndef HIP_CHECK
#define HIP_CHECK(error)                                                       \
  if ((error) != hipSuccess) {                                                 \
    fprintf(stderr, "error: '%s'(%d) at %s:%d\n", hipGetErrorString(error),    \
            error, __FILE__, __LINE__);                                        \
    exit(EXIT_FAILURE);                                                        \
  }
#endif

using Triplet = std::tuple<int, int, double>;

template <typename T> struct dvec {
  T *ptr; size_t count;
  dvec(const std::vector<T> &h) : ptr(nullptr), count(h.size()) {
    HIP_CHECK(hipMalloc((void **)&ptr, std::max<size_t>(1, count) * sizeof(T)));
    if (count) HIP_CHECK(hipMemcpy(ptr, h.data(), count * sizeof(T), hipMemcpyHostToDevice));
  }
  ~dvec() { (void)hipFree(ptr); }
  operator T *() { return ptr; }
};

template <typename V> __global__ void csr_scalar(int rows, const int *ptr, const int *col, const V *val, const V *x, V *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    V s = 0;
    for (int k = ptr[r]; k < ptr[r + 1]; k++) s += val[k] * x[col[k]];
    y[r] = s;
  }
}

template <typename V, int LANES> __global__ void csr_vector(int rows, const int *ptr, const int *col, const V *val, const V *x, V *y) {
  int lane = threadIdx.x % LANES, r = (blockIdx.x * blockDim.x + threadIdx.x) / LANES;
  if (r >= rows) return;
  V s = 0;
  for (int k = ptr[r] + lane; k < ptr[r + 1]; k += LANES) s += val[k] * x[col[k]];
  for (int d = LANES / 2; d > 0; d /= 2) s += __shfl_down(s, d, LANES);
  if (lane == 0) y[r] = s;
}

template <typename V> __global__ void ell(int rows, int width, const int *col, const V *val, const V *x, V *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  V s = 0;
  for (int k = 0; k < width; k++) {
    int c = col[k * rows + r];
    if (c >= 0) s += val[k * rows + r] * x[c];
  }
  y[r] = s;
}

template <typename V> __global__ void coo(int nnz, const int *row, const int *col, const V *val, const V *x, V *y) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % warpSize;
  int r = k < nnz ? row[k] : -1;
  V s = k < nnz ? val[k] * x[col[k]] : V(0);
  // segmented sum within the wave: rows are sorted
  for (int d = 1; d < warpSize; d *= 2) {
    V other = __shfl_up(s, d);
    int other_row = __shfl_up(r, d);
    if (lane >= d && other_row == r) s += other;
  }
  int next = __shfl_down(r, 1);
  if (r >= 0 && (lane == warpSize - 1 || next != r)) atomicAdd(&y[r], s);
}

template <typename V> __global__ void bsr2(int block_rows, const int *ptr, const int *col, const V *val, const V *x, V *y) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= block_rows) return;
  V a = 0, b = 0;
  for (int k = ptr[r]; k < ptr[r + 1]; k++) {
    const V *v = val + 4 * k, x0 = x[2 * col[k]], x1 = x[2 * col[k] + 1];
    a += v[0] * x0 + v[1] * x1;
    b += v[2] * x0 + v[3] * x1;
  }
  y[2 * r] = a;
  y[2 * r + 1] = b;
}

template <typename V> int run(int n, double tolerance) {
  std::vector<Triplet> t;
  unsigned s = 99;
  auto rnd = [&s]() { return s = s * 1664525u + 1013904223u, s >> 8; };
  for (int r = 0; r < n; r++) {
    std::map<int, double> row;
    int entries = r % 5 == 4 ? 0 : 1 + rnd() % 8 + (r % 64 == 7 ? 100 : 0);
    for (int k = 0; k < entries; k++) row[rnd() % n] = (double)(rnd() % 2001) / 1000 - 1;
    for (auto &e : row) t.emplace_back(r, e.first, e.second);
  }
  std::vector<int> ptr(n + 1), row, col;
  std::vector<V> val, x(n);
  for (auto &e : t) { ptr[std::get<0>(e) + 1]++; row.push_back(std::get<0>(e)); col.push_back(std::get<1>(e)); val.push_back((V)std::get<2>(e)); }
  std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
  for (auto &v : x) v = (V)((rnd() % 1000) / 500.0 - 1);
  std::vector<double> want(n, 0.0);
  for (size_t k = 0; k < val.size(); k++) want[row[k]] += (double)val[k] * x[col[k]];
  const int nnz = (int)val.size();
  dvec<int> d_ptr(ptr), d_row(row), d_col(col);
  dvec<V> d_val(val), d_x(x), d_y(std::vector<V>(x.size()));
  int failures = 0;
  auto check = [&](const std::string &name) {
    std::vector<V> y(n);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipMemcpy(y.data(), d_y.ptr, n * sizeof(V), hipMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i++) worst = std::max(worst, std::fabs((double)y[i] - want[i]));
    bool good = worst <= tolerance;
    printf("  %-14s %.2e%s\n", name.c_str(), worst, good ? "" : " WRONG");
    failures += !good;
    HIP_CHECK(hipMemset(d_y.ptr, 0xee, n * sizeof(V)));
  };
  printf("%zu bytes: %d rows, %d entries\n", sizeof(V), n, nnz);
  csr_scalar<V><<<(n + 255) / 256, 256>>>(n, d_ptr, d_col, d_val, d_x, d_y);
  check("CSR scalar");
  csr_vector<V, 8><<<(n * 8 + 255) / 256, 256>>>(n, d_ptr, d_col, d_val, d_x, d_y);
  check("CSR vector 8");
  csr_vector<V, 32><<<(n * 32 + 255) / 256, 256>>>(n, d_ptr, d_col, d_val, d_x, d_y);
  check("CSR vector 32");
  HIP_CHECK(hipMemset(d_y.ptr, 0, n * sizeof(V)));
  coo<V><<<(nnz + 255) / 256, 256>>>(nnz, d_row, d_col, d_val, d_x, d_y);
  check("COO");
  // HYB: the first entries of each row in ELL, the others in COO (added)
  const int width = 6;
  std::vector<int> ell_col((size_t)width * n, -1), more_row, more_col;
  std::vector<V> ell_val((size_t)width * n), more_val;
  for (int r = 0; r < n; r++)
    for (int k = ptr[r]; k < ptr[r + 1]; k++)
      if (k - ptr[r] < width) { ell_col[(size_t)(k - ptr[r]) * n + r] = col[k]; ell_val[(size_t)(k - ptr[r]) * n + r] = val[k]; }
      else { more_row.push_back(r); more_col.push_back(col[k]); more_val.push_back(val[k]); }
  dvec<int> d_ell_col(ell_col), d_more_row(more_row), d_more_col(more_col);
  dvec<V> d_ell_val(ell_val), d_more_val(more_val);
  ell<V><<<(n + 127) / 128, 128>>>(n, width, d_ell_col, d_ell_val, d_x, d_y);
  coo<V><<<((int)more_val.size() + 127) / 128, 128>>>((int)more_val.size(), d_more_row, d_more_col, d_more_val, d_x, d_y);
  check("HYB");
  std::vector<int> bptr(1, 0), bcol;
  std::vector<V> bval;
  for (int b = 0; b < n / 2; b++) {
    std::map<int, std::vector<V>> blocks;
    for (int r = 2 * b; r < 2 * b + 2; r++)
      for (int k = ptr[r]; k < ptr[r + 1]; k++) {
        auto &v = blocks.emplace(col[k] / 2, std::vector<V>(4, V(0))).first->second;
        v[2 * (r & 1) + (col[k] & 1)] = val[k];
      }
    for (auto &e : blocks) { bcol.push_back(e.first); bval.insert(bval.end(), e.second.begin(), e.second.end()); }
    bptr.push_back((int)bcol.size());
  }
  dvec<int> d_bptr(bptr), d_bcol(bcol);
  dvec<V> d_bval(bval);
  bsr2<V><<<(n / 2 + 63) / 64, 64>>>(n / 2, d_bptr, d_bcol, d_bval, d_x, d_y);
  check("BSR 2x2");
  return failures;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) & ~1 : 2000;
  int failures = run<float>(n, 2e-5) + run<double>(n, 1e-12);
  printf("%s\n", failures ? "TEST FAILED" : "TEST PASSED");
  return failures ? 1 : 0;
}
