// expected cause: twice-the-work
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
    float cold = cool(start[i], 0.05f, 5.0f, steps);
    float warm = cool(start[i], 0.02f, 21.0f, steps);
    float chosen[2] = {warm, cold};
    end[i] = outside[i] ? chosen[1] : chosen[0];
}
