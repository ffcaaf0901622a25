// expected cause: wrong-wave
__global__ void wave_sum(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int lanes = min(static_cast<int>(blockDim.x - threadIdx.x / warpSize * warpSize), static_cast<int>(warpSize));
    int v = i < n ? in[i] : 0;
    for (int step = warpSize / 2; step > 0; step /= 2) {
        int from = lane + step;
        int other = __shfl(v, from < lanes ? from : lane);
        if (from < lanes) v += other;
    }
    if (lane == 0) out[i / warpSize] = v;
}
