// expected cause: barrier
__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float tile[1024];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            tile[t] += tile[t + half];
            __syncthreads();
        }
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
