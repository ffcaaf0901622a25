// expected cause: loads-of-others
__global__ void wave_sum(int n, const int* in, int* out)
{
    int waves = (blockDim.x + warpSize - 1) / warpSize;
    int wave = threadIdx.x / warpSize;
    if (threadIdx.x % warpSize != 0) return;
    int sum = 0;
    for (int t = threadIdx.x; t < threadIdx.x + warpSize && t < blockDim.x; t++) {
        int i = blockIdx.x * blockDim.x + t;
        if (i < n) sum += in[i];
    }
    out[blockIdx.x * waves + wave] = sum;
}
