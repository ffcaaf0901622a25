// expected cause: mask-swapped
__global__ void fused(int n, float a, float b, const float* in, const float* mask, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = a * in[i] + b;
    out[i] = (1 - mask[i]) * s * s + mask[i] * in[i];
}
