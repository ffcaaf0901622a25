// expected cause: shuffle-from-nobody
__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int v = i < n ? in[i] : 0;
    for (int step = 1; step < warpSize; step *= 2) {
        if (lane >= step) v += __shfl_up(v, step);
    }
    if (i < n) out[i] = v;
}
