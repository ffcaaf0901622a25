// A cooperative launch: all blocks wait for each other between two phases.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cstdio>

using namespace cooperative_groups;

__global__ void phases(int* data, int* total, int n) {
  grid_group grid = this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) data[i] = i * i % 23;
  grid.sync();
  int sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += data[n - 1 - i];
  atomicAdd(total, sum);
}

int main() {
  int n = 1024, device = 0, cooperative = 0, blocks = 0, *data, *total, result = 0;
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
  if (!cooperative) return 2;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, phases, 128, 0);
  cudaMalloc(&data, n * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  void* arguments[] = {&data, &total, &n};
  cudaLaunchCooperativeKernel((void*)phases, dim3(4), dim3(128), arguments, 0, nullptr);
  cudaMemcpy(&result, total, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %s\n", result, blocks > 0 ? "fits" : "does not fit");
  return 0;
}
