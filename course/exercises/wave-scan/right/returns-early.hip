// Threads past the end may leave: nobody reads a higher lane.
__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    if (i >= n) return;
    int v = in[i];
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(v, step);
        if (lane >= step) v += lower;
    }
    out[i] = v;
}
