// expected cause: shuffle-from-nobody
__global__ void wave_sum(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int waves = (blockDim.x + warpSize - 1) / warpSize;
    int v = in[i];
    for (int step = warpSize / 2; step > 0; step /= 2) v += __shfl_down(v, step);
    if (threadIdx.x % warpSize == 0) out[blockIdx.x * waves + threadIdx.x / warpSize] = v;
}
