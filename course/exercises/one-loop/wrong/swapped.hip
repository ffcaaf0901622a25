// expected cause: swapped
__device__ float cool(float t, float share, float around, int steps)
{
    for (int k = 0; k < steps; k++) t += share * (around - t);
    return t;
}

__global__ void cool_all(int n, int steps, const int* outside, const float* start, float* end)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float share = outside[i] ? 0.02f : 0.05f;
    float around = outside[i] ? 21.0f : 5.0f;
    end[i] = cool(start[i], share, around, steps);
}
