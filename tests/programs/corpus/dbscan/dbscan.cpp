// DBSCAN: neighbour counts, core points, clusters by label propagation with pointer jumping, border points
#include <hip/hip_runtime.h>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <queue>
#include <random>
#include <string>
#include <vector>

#if defined(__CUDACC__)
#define gpuMalloc cudaMalloc
#elif defined(__HIPCC__)
#define gpuMalloc hipMalloc
#define gpuFree hipFree
#define gpuMemcpy hipMemcpy
#define gpuMemset hipMemset
#define gpuMemcpyHostToDevice hipMemcpyHostToDevice
#define gpuMemcpyDeviceToHost hipMemcpyDeviceToHost
#define gpuSuccess hipSuccess
#define gpuGetErrorString hipGetErrorString
#define gpuGetLastError hipGetLastError
#define gpuError_t hipError_t
#endif

#define GPU(x) if (gpuError_t e = (x); e != gpuSuccess) { std::cerr << gpuGetErrorString(e) << " @" << __LINE__ << "\n"; return 1; }

struct Point { float x, y; };

template <class F> __device__ void each_neighbour(const Point* p, int i, int n, float eps2, F f) {
  const Point me = p[i];
  for (int j = 0; j < n; j++) {
    float dx = p[j].x - me.x, dy = p[j].y - me.y;
    if (dx * dx + dy * dy <= eps2) f(j);
  }
}

__global__ void count(const Point* p, int* degree, int n, float eps2) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int c = 0;
  each_neighbour(p, i, n, eps2, [&c](int) { c++; });
  degree[i] = c;
}

__global__ void propagate(const Point* p, const int* degree, int* label, bool* again, int n, float eps2, int min_points) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || degree[i] < min_points) return;
  int least = label[i];
  each_neighbour(p, i, n, eps2, [&](int j) { if (degree[j] >= min_points) least = min(least, label[j]); });
  while (least != label[least]) least = label[least];
  if (least < label[i]) {
    atomicMin(&label[label[i]], least);
    atomicMin(&label[i], least);
    *again = true;
  }
}

__global__ void border(const Point* p, const int* degree, int* label, int n, float eps2, int min_points) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || degree[i] >= min_points) return;
  int least = 0x7fffffff;
  each_neighbour(p, i, n, eps2, [&](int j) { if (degree[j] >= min_points) least = min(least, label[j]); });
  label[i] = least == 0x7fffffff ? -1 : least;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::stoi(argv[1]) : 1200, min_points = 6;
  const float eps = 0.25f;
  std::mt19937 gen(8);
  std::normal_distribution<float> g(0, 0.35f);
  std::uniform_real_distribution<float> u(-6, 6);
  std::vector<Point> p(n);
  for (int i = 0; i < n; i++) {
    if (i % 6 == 5) p[i] = {u(gen), u(gen)};
    else if (i % 6 == 4) { float a = u(gen); p[i] = {4 * std::cos(a) + 0.1f * g(gen), 4 * std::sin(a) + 0.1f * g(gen)}; }
    else p[i] = {1.5f * (i % 3 - 1) + g(gen) * 0.5f, (i % 2 ? 1.0f : -1.0f) + g(gen) * 0.5f};
  }
  Point* d_p; int *d_degree, *d_label; bool* d_again;
  GPU(gpuMalloc(&d_p, n * sizeof(Point)));
  GPU(gpuMalloc(&d_degree, n * sizeof(int)));
  GPU(gpuMalloc(&d_label, n * sizeof(int)));
  GPU(gpuMalloc(&d_again, sizeof(bool)));
  std::vector<int> label(n), degree(n), want(n, -2);
  for (int i = 0; i < n; i++) label[i] = i;
  GPU(gpuMemcpy(d_p, p.data(), n * sizeof(Point), gpuMemcpyHostToDevice));
  GPU(gpuMemcpy(d_label, label.data(), n * sizeof(int), gpuMemcpyHostToDevice));
  const int block = 64, grid = (n + block - 1) / block;
  count<<<grid, block>>>(d_p, d_degree, n, eps * eps);
  bool again = true;
  int rounds = 0;
  while (again) {
    GPU(gpuMemset(d_again, 0, 1));
    propagate<<<grid, block>>>(d_p, d_degree, d_label, d_again, n, eps * eps, min_points);
    GPU(gpuMemcpy(&again, d_again, 1, gpuMemcpyDeviceToHost));
    rounds++;
  }
  border<<<grid, block>>>(d_p, d_degree, d_label, n, eps * eps, min_points);
  GPU(gpuGetLastError());
  GPU(gpuMemcpy(label.data(), d_label, n * sizeof(int), gpuMemcpyDeviceToHost));
  GPU(gpuMemcpy(degree.data(), d_degree, n * sizeof(int), gpuMemcpyDeviceToHost));
  GPU(gpuFree(d_p)); GPU(gpuFree(d_degree)); GPU(gpuFree(d_label)); GPU(gpuFree(d_again));
  // host, with the device's distances (fma may decide a point on the border)
  auto near = [&](int i, int j) { float dx = p[j].x - p[i].x, dy = p[j].y - p[i].y; return std::fmaf(dx, dx, dy * dy) <= eps * eps; };
  std::vector<std::vector<int>> adjacent(n);
  int degree_wrong = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) if (near(i, j)) adjacent[i].push_back(j);
    degree_wrong += (int)adjacent[i].size() != degree[i];
  }
  int clusters = 0, noise = 0, wrong = 0;
  for (int i = 0; i < n; i++) {
    if (want[i] != -2 || degree[i] < min_points) continue;
    clusters++;
    std::queue<int> q({i});
    want[i] = i;
    while (!q.empty()) {
      int v = q.front(); q.pop();
      for (int w : adjacent[v]) if (degree[w] >= min_points && want[w] == -2) { want[w] = i; q.push(w); }
    }
  }
  for (int i = 0; i < n; i++) {
    if (degree[i] >= min_points) continue;
    want[i] = n;
    for (int w : adjacent[i]) if (degree[w] >= min_points) want[i] = std::min(want[i], want[w]);
    if (want[i] == n) { want[i] = -1; noise++; }
  }
  for (int i = 0; i < n; i++) wrong += want[i] != label[i];
  std::cout << clusters << " clusters, " << noise << " noise points, " << rounds << " rounds; wrong: " << wrong << " labels, " << degree_wrong << " degrees\n";
  bool ok = !wrong && degree_wrong <= 2 && clusters > 3 && noise > 0;
  std::cout << (ok ? "PASSED" : "FAILED") << std::endl;
  return ok ? 0 : 1;
}
