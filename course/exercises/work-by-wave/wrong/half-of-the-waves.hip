// expected cause: several-results
__device__ float rise(float v, int steps)
{
    #pragma unroll 1
    for (int k = 0; k < steps; k++) v = v * v + 0.25f;
    return v;
}

__device__ float fall(float v, int steps)
{
    #pragma unroll 1
    for (int k = 0; k < steps; k++) v = 0.5f * v * v;
    return v;
}

__global__ void work(int n, int steps, const float* x, float* risen, float* fallen)
{
    int half = gridDim.x / 4 * blockDim.x, t = blockIdx.x / 2 * blockDim.x + threadIdx.x;
    for (int i = t; i < n; i += half > 0 ? half : n) {
        if (half > 0 && t >= half) return;
        if (blockIdx.x % 2 == 0) risen[i] = rise(x[i], steps);
        else fallen[i] = fall(x[i], steps);
    }
}
