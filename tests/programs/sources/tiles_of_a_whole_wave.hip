// Kernels with tiles of 64 and of 32 threads in one binary, of which the device's own are launched; then those of 64 all
// the same: where waves have 32 lanes the kernel says so and traps (hipErrorLaunchFailure is 719).
// OUT: 4 tiles: sums, scans and copies are right
// OUT[gfx942]: tiles of 64: 0
// OUT[gfx1100]: a tile of 64 threads does not fit this device's waves of 32 lanes
// OUT[gfx1100]: tiles of 64: 719
// ERR[gfx1100]: stopped itself (trap)
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/cooperative_groups/hip_reduce.h>
#include <hip/cooperative_groups/hip_scan.h>
#include <hip/cooperative_groups/memcpy_async.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

template <unsigned lanes>
__global__ void tiles(const int* in, int* scans, int* sums, int* copies) {
  __shared__ int piece[256];
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<lanes>(block);
  cg::memcpy_async(block, piece, in, block.size() * sizeof(int));
  auto token = block.barrier_arrive();
  block.barrier_wait(static_cast<decltype(token)&&>(token));
  unsigned i = block.thread_rank();
  copies[block.size() - 1 - i] = piece[block.size() - 1 - i];
  scans[i] = cg::exclusive_scan(tile, in[i]);
  int sum = cg::reduce(tile, in[i], cg::plus<int>());
  if (tile.thread_rank() == 0) sums[i / lanes] = sum;
}

int main() {
  hipDeviceProp_t properties;
  (void)hipGetDeviceProperties(&properties, 0);
  const int lanes = properties.warpSize, count = 4 * lanes;
  std::vector<int> in(count), out(3 * count);
  for (int i = 0; i < count; ++i) in[i] = i * 7 % 31;
  int *from, *to;
  if (hipMalloc(&from, count * 4) != hipSuccess || hipMalloc(&to, 3 * count * 4) != hipSuccess) return 2;
  (void)hipMemcpy(from, in.data(), count * 4, hipMemcpyHostToDevice);
  auto kernel = lanes == 64 ? tiles<64> : tiles<32>;
  kernel<<<1, count>>>(from, to, to + count, to + 2 * count);
  (void)hipMemcpy(out.data(), to, 3 * count * 4, hipMemcpyDeviceToHost);
  int wrong = 0;
  for (int tile = 0; tile < 4; ++tile) {
    int sum = 0;
    for (int i = tile * lanes; i < (tile + 1) * lanes; ++i) {
      wrong += out[i] != sum || out[2 * count + i] != in[i];
      sum += in[i];
    }
    wrong += out[count + tile] != sum;
  }
  std::printf(wrong ? "%d are wrong\n" : "4 tiles: sums, scans and copies are right\n", wrong);
  tiles<64><<<1, 64>>>(from, to, to + count, to + 2 * count);
  std::printf("tiles of 64: %d\n", static_cast<int>(hipDeviceSynchronize()));
}
