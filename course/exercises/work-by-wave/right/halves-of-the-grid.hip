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
    unsigned half = gridDim.x / 2;
    bool up = blockIdx.x < half;
    unsigned block = up ? blockIdx.x : blockIdx.x - half;
    int i = block * blockDim.x + threadIdx.x;
    if (i < n) {
        if (up) risen[i] = rise(x[i], steps);
        else fallen[i] = fall(x[i], steps);
    }
}
