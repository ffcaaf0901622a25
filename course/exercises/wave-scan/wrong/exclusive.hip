// expected cause: exclusive
__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int own = i < n ? in[i] : 0, v = own;
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(v, step);
        if (lane >= step) v += lower;
    }
    if (i < n) out[i] = v - own;
}
