// expected cause: no-loop
#include <hip/hip_cooperative_groups.h>

__global__ void scan(int n, const int* in, int* out, unsigned* work)
{
    __shared__ int lds[256];
    __shared__ int carry;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    lds[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int before = threadIdx.x >= step ? lds[threadIdx.x - step] : 0;
        __syncthreads();
        lds[threadIdx.x] += before;
        __syncthreads();
    }
    if (threadIdx.x == blockDim.x - 1) work[blockIdx.x] = lds[threadIdx.x];
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) {
        carry = 0;
        for (int b = 0; b < blockIdx.x; ++b) carry += work[b];
    }
    __syncthreads();
    if (i < n) out[i] = lds[threadIdx.x] + carry;
}
