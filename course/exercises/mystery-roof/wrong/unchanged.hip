// expected cause: double-precision
__global__ void curve(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], y = x;
    for (int k = 0; k < 8; k++) y = 0.5 * y * (1.0 + x * x / (1.0 + y * y)) + 0.25;
    out[i] = y;
}
