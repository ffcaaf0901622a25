// expected cause: more-than-votes
__global__ void pack(int n, const int* in, int* out, int* count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize;
    int v = i < n ? in[i] : 0;
    int place = v > 0;
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(place, step);
        if (lane >= step) place += lower;
    }
    int total = __shfl(place, warpSize - 1);
    if (v > 0) out[i - lane + place - 1] = v;
    if (lane == 0 && i < n) count[i / warpSize] = total;
}
