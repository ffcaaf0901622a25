// expected cause: too-many-shuffles
__global__ void wave_sum(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int waves = (blockDim.x + warpSize - 1) / warpSize;
    int first = threadIdx.x / warpSize * warpSize;
    int lanes = min(static_cast<int>(blockDim.x) - first, static_cast<int>(warpSize));
    int v = i < n ? in[i] : 0, sum = 0;
    for (int lane = 0; lane < lanes; lane++) sum += __shfl(v, (lane + static_cast<int>(threadIdx.x)) % lanes);
    if (threadIdx.x % warpSize == 0) out[blockIdx.x * waves + threadIdx.x / warpSize] = sum;
}
