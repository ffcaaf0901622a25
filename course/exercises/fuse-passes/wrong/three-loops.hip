// expected cause: memory-lines
__global__ void fused(int n, float a, float b, const float* in, const float* mask, float* out)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += step) out[i] = a * in[i] + b;
    for (int i = first; i < n; i += step) out[i] *= out[i];
    for (int i = first; i < n; i += step) out[i] = mask[i] * out[i] + (1 - mask[i]) * in[i];
}
