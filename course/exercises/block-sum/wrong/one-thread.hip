// expected cause: one-after-the-other
__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float tile[1024];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (t == 0) {
        float sum = 0;
        for (int k = 0; k < (int)blockDim.x; k++) sum += tile[k];
        sums[blockIdx.x] = sum;
    }
}
