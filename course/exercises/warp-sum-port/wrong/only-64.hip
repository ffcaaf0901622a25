// expected cause: only-64
__global__ void block_sums(int n, const int* in, int* sums)
{
    __shared__ int partial[1024 / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 64;
    int warp = threadIdx.x / 64;
    int sum = i < n ? in[i] : 0;
    for (int step = 32; step > 0; step /= 2)
        sum += __shfl_down(sum, step);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 64 ? partial[lane] : 0;
        for (int step = 32; step > 0; step /= 2)
            sum += __shfl_down(sum, step);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}
