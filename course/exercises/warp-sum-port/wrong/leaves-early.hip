// expected cause: leaves-early
__global__ void block_sums(int n, const int* in, int* sums)
{
    __shared__ int partial[1024 / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int warp = threadIdx.x / warpSize;
    if (i >= n) return;
    int sum = in[i];
    for (int step = warpSize / 2; step > 0; step /= 2)
        sum += __shfl_down(sum, step);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / warpSize ? partial[lane] : 0;
        for (int step = warpSize / 2; step > 0; step /= 2)
            sum += __shfl_down(sum, step);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}
