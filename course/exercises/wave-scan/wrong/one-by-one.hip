// expected cause: too-many-shuffles
__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int lane = threadIdx.x % warpSize;
    int own = in[i], v = own;
    for (int step = 1; step < warpSize; step++) {
        int lower = __shfl_up(own, step);
        if (lane >= step) v += lower;
    }
    out[i] = v;
}
