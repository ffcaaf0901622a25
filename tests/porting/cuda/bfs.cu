// Breadth-first search, level by level, until a flag on the device stays down.
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

__global__ void level(const int* starts, const int* edges, int* depth, int current, bool* changed, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || depth[v] != current) return;
  for (int e = starts[v]; e < starts[v + 1]; ++e) {
    if (depth[edges[e]] < 0) {
      depth[edges[e]] = current + 1;
      *changed = true;
    }
  }
}

int main() {
  const int n = 300;
  std::vector<int> starts{0}, edges, depth(n, -1);
  for (int v = 0; v < n; ++v) {
    for (int u : {2 * v + 1, 2 * v + 2, v / 3})
      if (u < n) edges.push_back(u);
    starts.push_back(static_cast<int>(edges.size()));
  }
  depth[0] = 0;
  int *dstarts, *dedges, *ddepth;
  bool *dchanged, changed = true;
  cudaMalloc(&dstarts, starts.size() * sizeof(int));
  cudaMalloc(&dedges, edges.size() * sizeof(int));
  cudaMalloc(&ddepth, n * sizeof(int));
  cudaMalloc(&dchanged, sizeof(bool));
  cudaMemcpy(dstarts, starts.data(), starts.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(dedges, edges.data(), edges.size() * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(ddepth, depth.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  int rounds = 0;
  while (changed) {
    changed = false;
    cudaMemcpy(dchanged, &changed, sizeof(bool), cudaMemcpyHostToDevice);
    level<<<(n + 63) / 64, 64>>>(dstarts, dedges, ddepth, rounds++, dchanged, n);
    cudaMemcpy(&changed, dchanged, sizeof(bool), cudaMemcpyDeviceToHost);
  }
  cudaMemcpy(depth.data(), ddepth, n * sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %d\n", rounds, depth[n - 1]);
  return 0;
}
