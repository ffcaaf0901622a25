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
    int i = blockIdx.x / 2 * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (blockIdx.x % 2 == 0) risen[i] = rise(x[i], steps);
    else fallen[i] = fall(x[i], steps);
}
