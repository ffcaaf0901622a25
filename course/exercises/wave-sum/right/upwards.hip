__global__ void wave_sum(int n, const int* in, int* out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int waves = (blockDim.x - 1) / warpSize + 1;
    int v = 0;
    if (i < static_cast<unsigned>(n)) v = in[i];
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(v, step);
        v += lane >= step ? lower : 0;
    }
    bool last = lane == warpSize - 1 || threadIdx.x == blockDim.x - 1;
    if (last) out[blockIdx.x * waves + threadIdx.x / warpSize] = v;
}
