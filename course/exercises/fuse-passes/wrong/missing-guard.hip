// expected cause: missing-guard
__global__ void fused(int n, float a, float b, const float* in, const float* mask, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float pixel = in[i], weight = mask[i];
    float s = a * pixel + b;
    out[i] = weight * s * s + (1 - weight) * pixel;
}
