// Cooperative groups within a block: tiles of 16 lanes sum, vote and scan; a tile is the same on both wave sizes.
// OUT: 64 tiles of 16 are right
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
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* sums, unsigned long long* votes, int* ranks) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int i = blockIdx.x * block.size() + block.thread_rank(), sum = in[i];
  for (int step = tile.size() / 2; step > 0; step /= 2) sum += tile.shfl_down(sum, step);
  unsigned long long odd = tile.ballot(in[i] % 2);
  if (tile.thread_rank() == 0) {
    sums[i / 16] = sum;
    votes[i / 16] = odd;
  }
  ranks[i] = tile.thread_rank();
}

int main() {
  const int n = 1024;
  std::vector<int> in(n), sums(n / 16), ranks(n);
  std::vector<unsigned long long> votes(n / 16);
  for (int i = 0; i < n; ++i) in[i] = i * i % 59;
  int *di, *ds, *dr;
  unsigned long long* dv;
  CHECK(hipMalloc(&di, n * sizeof(int)));
  CHECK(hipMalloc(&dr, n * sizeof(int)));
  CHECK(hipMalloc(&ds, n / 16 * sizeof(int)));
  CHECK(hipMalloc(&dv, n / 16 * sizeof(unsigned long long)));
  CHECK(hipMemcpy(di, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
  tiles<<<4, 256>>>(di, ds, dv, dr);
  CHECK(hipMemcpy(sums.data(), ds, n / 16 * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(ranks.data(), dr, n * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(votes.data(), dv, n / 16 * sizeof(unsigned long long), hipMemcpyDeviceToHost));
  for (int t = 0; t < n / 16; ++t) {
    int sum = 0;
    unsigned long long odd = 0;
    for (int k = 0; k < 16; ++k) {
      sum += in[16 * t + k];
      odd |= static_cast<unsigned long long>(in[16 * t + k] % 2) << k;
      if (ranks[16 * t + k] != k) return 2;
    }
    if (sum != sums[t] || odd != votes[t]) return 1;
  }
  std::printf("%d tiles of 16 are right\n", n / 16);
}
