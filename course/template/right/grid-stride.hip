__global__ void scale(int n, float factor, const float* in, float* out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i] * factor;
}
