// expected cause: missing-barrier
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ int block_scan(int value, int* lds)           // inclusive, over the block; lds has blockDim.x elements
{
    lds[threadIdx.x] = value;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int before = threadIdx.x >= step ? lds[threadIdx.x - step] : 0;
        __syncthreads();
        lds[threadIdx.x] += before;
        __syncthreads();
    }
    return lds[threadIdx.x];
}

__global__ void scan(int n, const int* in, int* out, unsigned* work)
{
    __shared__ int lds[256];
    __shared__ int carry;
    cg::grid_group grid = cg::this_grid();

    // The tiles of a block are neighbours: [first, last).
    int tiles = (n + blockDim.x - 1) / blockDim.x;
    int first = (long long)tiles * blockIdx.x / gridDim.x;
    int last = (long long)tiles * (blockIdx.x + 1) / gridDim.x;

    // 1  the sum of my tiles
    int own = 0;
    for (int i = first * blockDim.x + threadIdx.x; i < last * blockDim.x; i += blockDim.x) own += i < n ? in[i] : 0;
    int total = block_scan(own, lds);
    if (threadIdx.x == blockDim.x - 1) work[blockIdx.x] = total;

    // 2  all blocks have their sum: what comes before mine?
    grid.sync();
    if (threadIdx.x == 0) {
        int before = 0;
        for (int b = 0; b < blockIdx.x; ++b) before += work[b];
        carry = before;
    }
    __syncthreads();

    // 3  scan my tiles, one after the other
    for (int i = first * blockDim.x + threadIdx.x; i < last * blockDim.x; i += blockDim.x) {
        int sum = block_scan(i < n ? in[i] : 0, lds) + carry;
        if (i < n) out[i] = sum;
        if (threadIdx.x == blockDim.x - 1) carry = sum;
        __syncthreads();
    }
}
