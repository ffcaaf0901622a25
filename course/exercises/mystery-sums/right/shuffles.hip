__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float parts[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float sum = i < n ? in[i] : 0;
    for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);
    if (t % warpSize == 0) parts[t / warpSize] = sum;
    __syncthreads();
    if (t == 0) {
        for (int wave = 1; wave < 256 / warpSize; wave++) sum += parts[wave];
        sums[blockIdx.x] = sum;
    }
}
