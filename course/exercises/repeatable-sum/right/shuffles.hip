__global__ void add_all(int n, const float* in, unsigned long long* total)
{
    __shared__ long long parts[32];
    int t = threadIdx.x;
    long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        mine += (long long)rint(in[blockIdx.y * n + i] * 1048576.0);
    }
    for (int step = warpSize / 2; step > 0; step /= 2) mine += __shfl_down(mine, step);
    if (t % warpSize == 0) parts[t / warpSize] = mine;
    __syncthreads();
    if (t == 0) {
        long long sum = 0;
        for (int wave = 0; wave < blockDim.x / warpSize; wave++) sum += parts[wave];
        atomicAdd(&total[blockIdx.y], (unsigned long long)sum);
    }
}
