// expected cause: wrong-totals
__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int v = i < n ? in[i] : 0;
    for (int step = 1; step < warpSize; step *= 4) {
        int lower = __shfl_up(v, step);
        if (lane >= step) v += lower;
    }
    if (i < n) out[i] = v;
}
