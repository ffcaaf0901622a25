__global__ void __launch_bounds__(256) count(int n, const unsigned char* data, int* counts)
{
    // one row of counters for each wave; there are at most 8 waves of 32 lanes
    __shared__ int found[8][16];
    int t = threadIdx.x, wave = t / warpSize, first = blockIdx.x * 76800;
    if (t < 128) found[t / 16][t % 16] = 0;
    __syncthreads();
    for (int j = t; j < 76800 && first + j < n; j += blockDim.x) atomicAdd(&found[wave][data[first + j]], 1);
    __syncthreads();
    if (t < 16) {
        int sum = 0;
        for (int w = 0; w < 8; w++) sum += found[w][t];
        counts[blockIdx.x * 16 + t] = sum;
    }
}
