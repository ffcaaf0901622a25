// expected cause: memory-lines
__global__ void fused(int n, float a, float b, const float* in, const float* mask, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a * in[i] + b;
    out[i] = out[i] * out[i];
    out[i] = mask[i] * out[i] + (1 - mask[i]) * in[i];
}
