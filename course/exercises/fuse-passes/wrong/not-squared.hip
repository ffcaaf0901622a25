// expected cause: not-squared
__global__ void fused(int n, float a, float b, const float* in, const float* mask, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mask[i] * (a * in[i] + b) + (1 - mask[i]) * in[i];
}
