// expected cause: for-32-lanes
__global__ void wave_sum(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int waves = (blockDim.x + warpSize - 1) / warpSize;
    int v = i < n ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2) v += __shfl_down(v, step);
    if (threadIdx.x % warpSize == 0) out[blockIdx.x * waves + threadIdx.x / warpSize] = v;
}
