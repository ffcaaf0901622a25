// expected cause: bank-conflicts
__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int at = 2 * step * t;
        if (at < 256) tile[at] += tile[at + step];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
