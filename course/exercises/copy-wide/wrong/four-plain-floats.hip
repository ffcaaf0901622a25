// expected cause: not-wide
__global__ void copy_wide(int n, const float* in, float* out)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}
