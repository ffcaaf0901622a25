__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    int total = i < n ? in[i] : 0;
    for (int back = 1; back < warpSize; back += back) {
        int below = __shfl(total, lane >= back ? lane - back : lane);
        total += lane >= back ? below : 0;
    }
    if (i < n) out[i] = total;
}
