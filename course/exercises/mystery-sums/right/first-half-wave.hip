__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? in[i] : 0;
    __syncthreads();
    if (t >= 32) return;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += tile[t + 32 * k];
    for (int step = 16; step; step /= 2) sum += __shfl_xor(sum, step, 32);
    if (t == 0) sums[blockIdx.x] = sum;
}
