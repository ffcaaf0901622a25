// expected cause: no-width
__global__ void block_sums(int n, const int* in, int* sums)
{
    __shared__ int partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    int sum = i < n ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffffffffffull, sum, step);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? partial[lane] : 0;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_down_sync(0xffffffffffffffffull, sum, step);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}
