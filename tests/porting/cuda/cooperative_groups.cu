// Sums by cooperative groups: tiles of a block, shuffles of a tile.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdio>

namespace cg = cooperative_groups;

template <typename Group>
__device__ int sum(Group group, int value) {
  for (int i = group.size() / 2; i > 0; i /= 2) value += group.shfl_down(value, i);
  return value;
}

__global__ void sums(const int* in, int* out, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);  //! cooperative-groups
  int i = blockIdx.x * blockDim.x + block.thread_rank();
  int total = sum(tile, i < n ? in[i] : 0);
  if (tile.thread_rank() == 0) atomicAdd(out, total);
  cg::coalesced_group active = cg::coalesced_threads();
  if (active.thread_rank() == 0) atomicAdd(out + 1, 0 * active.size() + 1);
  block.sync();
}

int main() {
  const int n = 500;
  int in[n], out[2] = {0, 0}, *din, *dout;
  for (int i = 0; i < n; ++i) in[i] = i % 17;
  cudaMalloc(&din, sizeof(in));
  cudaMalloc(&dout, sizeof(out));
  cudaMemcpy(din, in, sizeof(in), cudaMemcpyHostToDevice);
  cudaMemcpy(dout, out, sizeof(out), cudaMemcpyHostToDevice);
  sums<<<4, 128>>>(din, dout, n);
  cudaMemcpy(out, dout, sizeof(out), cudaMemcpyDeviceToHost);
  printf("%d %s\n", out[0], out[1] > 0 ? "groups" : "none");
  return 0;
}
