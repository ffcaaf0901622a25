__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int lane = threadIdx.x % warpSize;
    int total = in[i];
    for (int size = 1; size < warpSize; size *= 2) {
        // The upper half of each group of 2 * size lanes adds the total of the lower half: that of its last lane.
        int last = (lane & ~(2 * size - 1)) + size - 1;
        bool upper = (lane & size) != 0;
        int lower = __shfl(total, upper ? last : lane);
        if (upper) total += lower;
    }
    out[i] = total;
}
