// expected cause: integer-division
__global__ void curve(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], y = x;
    for (int k = 0; k < 8; k++) y = y / 2 * (1 + x * x / (1 + y * y)) + 1 / 4;
    out[i] = y;
}
