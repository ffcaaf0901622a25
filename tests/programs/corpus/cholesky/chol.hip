// Batched Cholesky factorisation and solve for small matrices (one wavefront per matrix, N as a template parameter),
// and a tiled one (POTRF, TRSM, SYRK) for a larger matrix in double.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

void operator%(hipError_t e, const char* what) { if (e) throw std::runtime_error(std::string(what) + ": " + hipGetErrorString(e)); }

template <int N> __global__ void batched(const float* a, const float* b, float* x, int* info, int count) {
  __shared__ float s[4][N][N + 1];
  __shared__ float y[4][N];
  const int in_block = threadIdx.x / 32, lane = threadIdx.x % 32, matrix = blockIdx.x * 4 + in_block;
  const bool on = matrix < count;
  if (on) for (int i = lane; i < N * N; i += 32) s[in_block][i / N][i % N] = a[matrix * N * N + i];
  if (on && lane < N) y[in_block][lane] = b[matrix * N + lane];
  __syncthreads();
  int bad = 0;
  for (int k = 0; k < N; ++k) {
    const float pivot = on ? s[in_block][k][k] : 1.0f;
    if (!(pivot > 0) && !bad) bad = k + 1;
    const float d = sqrtf(pivot);
    __syncthreads();
    if (on && lane >= k && lane < N) s[in_block][lane][k] = lane == k ? d : s[in_block][lane][k] / d;
    __syncthreads();
    if (on && lane > k && lane < N)
      for (int j = k + 1; j <= lane; ++j) s[in_block][lane][j] -= s[in_block][lane][k] * s[in_block][j][k];
    __syncthreads();
  }
  // forward, then backward substitution
  for (int k = 0; k < N; ++k) {
    if (on && lane == k) y[in_block][k] /= s[in_block][k][k];
    __syncthreads();
    if (on && lane > k && lane < N) y[in_block][lane] -= s[in_block][lane][k] * y[in_block][k];
    __syncthreads();
  }
  for (int k = N - 1; k >= 0; --k) {
    if (on && lane == k) y[in_block][k] /= s[in_block][k][k];
    __syncthreads();
    if (on && lane < k) y[in_block][lane] -= s[in_block][k][lane] * y[in_block][k];
    __syncthreads();
  }
  if (on && lane < N) x[matrix * N + lane] = y[in_block][lane];
  if (on && lane == 0) info[matrix] = bad;
}

constexpr int T = 16;
__global__ void potrf(double* a, int n, int k) {
  __shared__ double s[T][T + 1];
  const int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = a[(k + y) * n + k + x];
  __syncthreads();
  for (int j = 0; j < T; ++j) {
    if (x == j && y == j) s[j][j] = sqrt(s[j][j]);
    __syncthreads();
    if (x == j && y > j) s[y][j] /= s[j][j];
    __syncthreads();
    if (x > j && y >= x) s[y][x] -= s[y][j] * s[x][j];
    __syncthreads();
  }
  if (x <= y) a[(k + y) * n + k + x] = s[y][x];
}

__global__ void trsm(double* a, int n, int k) {
  __shared__ double l[T][T + 1], b[T][T + 1];
  const int x = threadIdx.x, y = threadIdx.y, row = k + T * (blockIdx.x + 1);
  l[y][x] = a[(k + y) * n + k + x];
  b[y][x] = a[(row + y) * n + k + x];
  __syncthreads();
  for (int j = 0; j < T; ++j) {
    if (x == j) b[y][j] /= l[j][j];
    __syncthreads();
    if (x > j) b[y][x] -= b[y][j] * l[x][j];
    __syncthreads();
  }
  a[(row + y) * n + k + x] = b[y][x];
}

__global__ void syrk(double* a, int n, int k) {
  if (blockIdx.x > blockIdx.y) return;
  __shared__ double p[T][T + 1], q[T][T + 1];
  const int x = threadIdx.x, y = threadIdx.y, row = k + T * (blockIdx.y + 1), col = k + T * (blockIdx.x + 1);
  p[y][x] = a[(row + y) * n + k + x];
  q[y][x] = a[(col + y) * n + k + x];
  __syncthreads();
  double sum = 0;
  for (int j = 0; j < T; ++j) sum += p[y][j] * q[x][j];
  a[(row + y) * n + col + x] -= sum;
}

template <int N> bool run(int count) {
  std::vector<float> a(count * N * N), b(count * N), x(count * N);
  std::vector<int> info(count);
  unsigned s = 3;
  auto rnd = [&s] { return s = s * 22695477u + 1u, float(s >> 16) / 32768 - 1; };
  for (int m = 0; m < count; ++m) {
    float g[N][N];
    for (auto& r : g) for (float& v : r) v = rnd();
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        float v = i == j ? 2.0f : 0.0f;
        for (int k = 0; k < N; ++k) v += g[i][k] * g[j][k];
        a[(m * N + i) * N + j] = v;
      }
    if (m % 7 == 3) a[(m * N + N / 2) * N + N / 2] = -50;    // not positive definite: must be noticed
    for (int i = 0; i < N; ++i) b[m * N + i] = rnd();
  }
  float *da, *db, *dx; int* di;
  hipMalloc(&da, a.size() * 4) % "malloc"; hipMalloc(&db, b.size() * 4) % "malloc"; hipMalloc(&dx, x.size() * 4) % "malloc"; hipMalloc(&di, count * 4) % "malloc";
  hipMemcpy(da, a.data(), a.size() * 4, hipMemcpyHostToDevice) % "copy";
  hipMemcpy(db, b.data(), b.size() * 4, hipMemcpyHostToDevice) % "copy";
  batched<N><<<(count + 3) / 4, 128>>>(da, db, dx, di, count);
  hipGetLastError() % "launch";
  hipMemcpy(x.data(), dx, x.size() * 4, hipMemcpyDeviceToHost) % "copy";
  hipMemcpy(info.data(), di, count * 4, hipMemcpyDeviceToHost) % "copy";
  for (void* p : {(void*)da, (void*)db, (void*)dx, (void*)di}) hipFree(p) % "free";
  double worst = 0;
  int wrong = 0;
  for (int m = 0; m < count; ++m) {
    if ((info[m] == N / 2 + 1) != (m % 7 == 3)) ++wrong;
    if (m % 7 == 3) continue;
    for (int i = 0; i < N; ++i) {
      double r = -b[m * N + i];
      for (int j = 0; j < N; ++j) r += double(a[(m * N + i) * N + j]) * x[m * N + j];
      worst = std::fmax(worst, std::fabs(r));
    }
  }
  std::printf("%d matrices of %d: largest residual %.2e, %d wrong infos\n", count, N, worst, wrong);
  return worst < 5e-5 && !wrong;
}

int main(int argc, char** argv) try {
  const int count = argc > 1 ? std::stoi(argv[1]) : 50, n = argc > 2 ? std::stoi(argv[2]) / T * T : 96;
  bool good = run<6>(count);
  good = run<17>(count) && good;
  good = run<32>(count) && good;
  std::vector<double> a(n * n), l(n * n);
  for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) a[i * n + j] = 1.0 / (1 + std::abs(i - j)) + (i == j ? 1 : 0);
  double* d;
  hipMalloc(&d, n * n * sizeof(double)) % "malloc";
  hipMemcpy(d, a.data(), n * n * sizeof(double), hipMemcpyHostToDevice) % "copy";
  for (int k = 0; k < n; k += T) {
    const unsigned rest = (n - k) / T - 1;
    potrf<<<1, dim3(T, T)>>>(d, n, k);
    if (!rest) break;
    trsm<<<rest, dim3(T, T)>>>(d, n, k);
    syrk<<<dim3(rest, rest), dim3(T, T)>>>(d, n, k);
  }
  hipGetLastError() % "launch";
  hipMemcpy(l.data(), d, n * n * sizeof(double), hipMemcpyDeviceToHost) % "copy";
  hipFree(d) % "free";
  double worst = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double s = 0;
      for (int k = 0; k <= j; ++k) s += l[i * n + k] * l[j * n + k];
      worst = std::fmax(worst, std::fabs(s - a[i * n + j]));
    }
  std::printf("tiled, n = %d: |LL' - A| <= %.2e\n", n, worst);
  good = good && worst < 1e-13;
  std::puts(good ? "PASS" : "FAIL");
  return !good;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 3;
}
