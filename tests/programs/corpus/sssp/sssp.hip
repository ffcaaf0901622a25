// Single-source shortest paths: Bellman-Ford with atomicMin, and delta-stepping buckets (near-far).
#include <hip/hip_runtime.h>
#include <cstdint>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

using vertex_t = std::uint32_t;
using weight_t = unsigned int;
constexpr weight_t INF = UINT_MAX;

#define CHECK_HIP(expr)                                                                        \
  {                                                                                            \
    const hipError_t hip_status_ = (expr);                                                     \
    if (hip_status_ != hipSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d %s -> %s\n", __FILE__, __LINE__, #expr,                      \
                   hipGetErrorString(hip_status_));                                            \
      std::abort();                                                                            \
    }                                                                                          \
  }

struct Csr {
  std::vector<vertex_t> row, col;
  std::vector<weight_t> w;
  vertex_t n() const { return static_cast<vertex_t>(row.size() - 1); }
};

static Csr grid_with_shortcuts(vertex_t side, unsigned seed) {
  std::mt19937 gen(seed);
  std::uniform_int_distribution<weight_t> weight(1, 100);
  std::uniform_int_distribution<vertex_t> any(0, side * side - 1);
  Csr g;
  g.row.push_back(0);
  for (vertex_t y = 0; y < side; ++y)
    for (vertex_t x = 0; x < side; ++x) {
      auto add = [&](vertex_t to) { g.col.push_back(to); g.w.push_back(weight(gen)); };
      const vertex_t v = y * side + x;
      if (x > 0) add(v - 1);
      if (x + 1 < side) add(v + 1);
      if (y > 0) add(v - side);
      if (y + 1 < side) add(v + side);
      if (v % 53 == 0) { g.col.push_back(any(gen)); g.w.push_back(400); }
      g.row.push_back(static_cast<vertex_t>(g.col.size()));
    }
  return g;
}

static std::vector<weight_t> dijkstra(const Csr& g, vertex_t s) {
  std::vector<weight_t> d(g.n(), INF);
  using Item = std::pair<weight_t, vertex_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> q;
  q.emplace(d[s] = 0, s);
  while (!q.empty()) {
    auto [dist, v] = q.top();
    q.pop();
    if (dist > d[v]) continue;
    for (vertex_t e = g.row[v]; e < g.row[v + 1]; ++e)
      if (dist + g.w[e] < d[g.col[e]]) q.emplace(d[g.col[e]] = dist + g.w[e], g.col[e]);
  }
  return d;
}

__global__ void relax_all(const vertex_t* row, const vertex_t* col, const weight_t* w, weight_t* dist, vertex_t n, int* changed) {
  const vertex_t v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const weight_t d = __atomic_load_n(&dist[v], __ATOMIC_RELAXED);
  if (d == INF) return;
  for (vertex_t e = row[v]; e < row[v + 1]; ++e) {
    const weight_t alternative = d + w[e];
    if (alternative < atomicMin(&dist[col[e]], alternative)) *changed = 1;
  }
}

__global__ void near_far(const vertex_t* row, const vertex_t* col, const weight_t* w, weight_t* dist, const vertex_t* frontier,
                         unsigned count, weight_t limit, vertex_t* near, unsigned* near_count, vertex_t* far,
                         unsigned* far_count, unsigned* stamp, unsigned round) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    const vertex_t v = frontier[i];
    const weight_t d = dist[v];
    for (vertex_t e = row[v]; e < row[v + 1]; ++e) {
      const vertex_t to = col[e];
      const weight_t alternative = d + w[e];
      if (alternative >= atomicMin(dist + to, alternative)) continue;
      if (alternative < limit) {
        if (atomicExch(&stamp[to], round) != round) near[atomicAdd(near_count, 1u)] = to;
      } else {
        far[atomicAdd(far_count, 1u)] = to;
      }
    }
  }
}

__global__ void split_far(const weight_t* dist, const vertex_t* far, unsigned count, weight_t low, weight_t high, vertex_t* near,
                          unsigned* near_count, vertex_t* rest, unsigned* rest_count, unsigned* stamp, unsigned round) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    const vertex_t v = far[i];
    if (dist[v] < low) continue;
    if (dist[v] < high) {
      if (atomicExch(&stamp[v], round) != round) near[atomicAdd(near_count, 1u)] = v;
    } else {
      rest[atomicAdd(rest_count, 1u)] = v;
    }
  }
}

template <class T> static T* to_device(const std::vector<T>& v) {
  T* p = nullptr;
  CHECK_HIP(hipMalloc(&p, v.size() * sizeof(T)));
  CHECK_HIP(hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice));
  return p;
}

int main(int argc, char** argv) {
  const vertex_t side = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 40;
  const Csr g = grid_with_shortcuts(side, 2024);
  const vertex_t n = g.n(), source = n / 3;
  const auto expected = dijkstra(g, source);
  auto* row = to_device(g.row);
  auto* col = to_device(g.col);
  auto* w = to_device(g.w);
  std::vector<weight_t> dist(n, INF);
  dist[source] = 0;
  auto* d_dist = to_device(dist);
  int* changed;
  CHECK_HIP(hipHostMalloc(&changed, sizeof(int), hipHostMallocDefault));
  int rounds = 0;
  do {
    *changed = 0;
    relax_all<<<dim3((n + 127) / 128), dim3(128)>>>(row, col, w, d_dist, n, changed);
    CHECK_HIP(hipDeviceSynchronize());
    ++rounds;
  } while (*changed);
  std::vector<weight_t> got(n);
  CHECK_HIP(hipMemcpy(got.data(), d_dist, n * sizeof(weight_t), hipMemcpyDeviceToHost));
  const bool first = got == expected;
  std::printf("Bellman-Ford: %d rounds, %s\n", rounds, first ? "same as Dijkstra" : "WRONG");

  CHECK_HIP(hipMemcpy(d_dist, dist.data(), n * sizeof(weight_t), hipMemcpyHostToDevice));
  const unsigned capacity = 16 * n;
  vertex_t* queue[4];
  for (auto& q : queue) CHECK_HIP(hipMalloc(&q, capacity * sizeof(vertex_t)));
  unsigned *counts, *stamp;
  CHECK_HIP(hipMalloc(&counts, 2 * sizeof(unsigned)));
  CHECK_HIP(hipMalloc(&stamp, n * sizeof(unsigned)));
  CHECK_HIP(hipMemset(stamp, 0, n * sizeof(unsigned)));
  CHECK_HIP(hipMemcpy(queue[0], &source, sizeof source, hipMemcpyHostToDevice));
  unsigned near = 1, far = 0, round = 0;
  const weight_t delta = 60;
  weight_t limit = delta;
  int near_rounds = 0;
  while (near || far) {
    while (near) {
      unsigned host_counts[2] = {0, far};
      CHECK_HIP(hipMemcpy(counts, host_counts, sizeof host_counts, hipMemcpyHostToDevice));
      near_far<<<8, 64>>>(row, col, w, d_dist, queue[0], near, limit, queue[1], &counts[0], queue[2], &counts[1], stamp, ++round);
      CHECK_HIP(hipGetLastError());
      CHECK_HIP(hipMemcpy(host_counts, counts, sizeof host_counts, hipMemcpyDeviceToHost));
      near = host_counts[0];
      far = host_counts[1];
      std::swap(queue[0], queue[1]);
      ++near_rounds;
    }
    if (!far) break;
    CHECK_HIP(hipMemset(counts, 0, 2 * sizeof(unsigned)));
    split_far<<<8, 64>>>(d_dist, queue[2], far, limit, limit + delta, queue[0], &counts[0], queue[3], &counts[1], stamp, ++round);
    unsigned host_counts[2];
    CHECK_HIP(hipMemcpy(host_counts, counts, sizeof host_counts, hipMemcpyDeviceToHost));
    near = host_counts[0];
    far = host_counts[1];
    std::swap(queue[2], queue[3]);
    limit += delta;
  }
  CHECK_HIP(hipMemcpy(got.data(), d_dist, n * sizeof(weight_t), hipMemcpyDeviceToHost));
  const bool second = got == expected;
  std::printf("near-far: %d rounds, %s\n", near_rounds, second ? "same as Dijkstra" : "WRONG");
  for (auto q : queue) CHECK_HIP(hipFree(q));
  for (void* p : {(void*)row, (void*)col, (void*)w, (void*)d_dist, (void*)counts, (void*)stamp}) CHECK_HIP(hipFree(p));
  CHECK_HIP(hipHostFree(changed));
  if (!(first && second)) return 1;
  std::puts("PASS");
}
