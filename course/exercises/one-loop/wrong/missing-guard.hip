// expected cause: missing-guard
__device__ float cool(float t, float share, float around, int steps)
{
    for (int k = 0; k < steps; k++) t += share * (around - t);
    return t;
}

__global__ void cool_all(int n, int steps, const int* outside, const float* start, float* end)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float share = outside[i] ? 0.05f : 0.02f;
    float around = outside[i] ? 5.0f : 21.0f;
    end[i] = cool(start[i], share, around, steps);
}
