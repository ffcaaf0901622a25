// Each wave adds up its elements by shuffles; one number for each wave goes through LDS.
__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float of_wave[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);
    int wave = threadIdx.x / warpSize, waves = (blockDim.x + warpSize - 1) / warpSize;
    if (threadIdx.x % warpSize == 0) of_wave[wave] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int k = 0; k < waves; k++) total += of_wave[k];
        sums[blockIdx.x] = total;
    }
}
