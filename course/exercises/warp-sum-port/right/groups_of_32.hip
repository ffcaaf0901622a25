__global__ void block_sums(int n, const int* in, int* sums)
{
    __shared__ int partial[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int group = threadIdx.x / 32;
    int sum = i < n ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(~0ull, sum, step, 32);
    if (lane == 0) partial[group] = sum;
    __syncthreads();
    if (group == 0) {
        sum = lane < blockDim.x / 32 ? partial[lane] : 0;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_down(sum, step, 32);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}
