// expected cause: data-race
__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
