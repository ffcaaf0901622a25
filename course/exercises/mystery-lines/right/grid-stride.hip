__global__ void soften(int n, float gain, const float* in, float* out)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        float v = gain * in[i];
        out[i] = v / (1 + fabsf(v));
    }
}
