// Breadth-first search over a graph in compressed rows, a level at a time, with a flag that the host reads.
// OUT: 1000 nodes, depth 9
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                             \
  do {                                                                                          \
    hipError_t error = (call);                                                                  \
    if (error != hipSuccess) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(error));        \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)
#include <queue>

__global__ void level(const int* rows, const int* columns, int* depth, int now, int n, int* changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || depth[i] != now) return;
  for (int e = rows[i]; e < rows[i + 1]; ++e)
    if (atomicCAS(&depth[columns[e]], -1, now + 1) == -1) *changed = 1;
}

int main() {
  const int n = 1000;
  std::vector<int> rows = {0}, columns;
  for (int i = 0; i < n; ++i) {
    for (int next : {2 * i + 1, 2 * i + 2, i / 3})
      if (next < n) columns.push_back(next);
    rows.push_back(static_cast<int>(columns.size()));
  }
  std::vector<int> expected(n, -1), found(n);
  std::queue<int> open;
  open.push(0);
  expected[0] = 0;
  while (!open.empty()) {
    int i = open.front();
    open.pop();
    for (int e = rows[i]; e < rows[i + 1]; ++e)
      if (expected[columns[e]] < 0) expected[columns[e]] = expected[i] + 1, open.push(columns[e]);
  }
  int *dr, *dc, *dd, *changed;
  CHECK(hipMalloc(&dr, rows.size() * sizeof(int)));
  CHECK(hipMalloc(&dc, columns.size() * sizeof(int)));
  CHECK(hipMalloc(&dd, n * sizeof(int)));
  CHECK(hipMalloc(&changed, sizeof(int)));
  CHECK(hipMemcpy(dr, rows.data(), rows.size() * sizeof(int), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dc, columns.data(), columns.size() * sizeof(int), hipMemcpyHostToDevice));
  CHECK(hipMemset(dd, 0xff, n * sizeof(int)));
  CHECK(hipMemset(dd, 0, sizeof(int)));
  int depth = 0;
  for (int more = 1; more; ++depth) {
    CHECK(hipMemset(changed, 0, sizeof(int)));
    level<<<(n + 127) / 128, 128>>>(dr, dc, dd, depth, n, changed);
    CHECK(hipMemcpy(&more, changed, sizeof(int), hipMemcpyDeviceToHost));
  }
  CHECK(hipMemcpy(found.data(), dd, n * sizeof(int), hipMemcpyDeviceToHost));
  if (found != expected) return 1;
  std::printf("%d nodes, depth %d\n", n, depth - 1);
}
