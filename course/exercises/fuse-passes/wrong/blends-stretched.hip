// expected cause: blends-stretched
__global__ void fused(int n, float a, float b, const float* in, const float* mask, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float pixel = in[i];
    pixel = a * pixel + b;
    out[i] = mask[i] * pixel * pixel + (1 - mask[i]) * pixel;
}
