// expected cause: never-written
__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float tile[1024];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) tile[t] = in[i];
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) tile[t] += tile[t + half];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
