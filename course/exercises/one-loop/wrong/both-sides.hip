// expected cause: divergence
__device__ float cool(float t, float share, float around, int steps)
{
    #pragma unroll 1
    for (int k = 0; k < steps; k++) t += share * (around - t);
    return t;
}

__global__ void cool_all(int n, int steps, const int* outside, const float* start, float* end)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = start[i];
    if (outside[i])
        t = cool(t, 0.05f, 5.0f, steps);
    else
        t = cool(t, 0.02f, 21.0f, steps);
    end[i] = t;
}
