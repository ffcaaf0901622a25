// expected cause: divergence
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
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t / 2;
    if (i >= n) return;
    if (t % 2 == 0) risen[i] = rise(x[i], steps);
    else fallen[i] = fall(x[i], steps);
}
