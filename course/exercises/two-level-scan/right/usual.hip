__global__ void scan_blocks(int n, const int* in, int* out, int* totals)
{
    __shared__ int of_wave[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
    int own = i < n ? in[i] : 0;

    int sum = own;
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(sum, step);
        if (lane >= step) sum += lower;
    }
    if (lane == warpSize - 1) of_wave[wave] = sum;
    __syncthreads();

    int before = 0, total = 0;
    for (int w = 0; w < blockDim.x / warpSize; w++) {
        if (w < wave) before += of_wave[w];
        total += of_wave[w];
    }
    if (i < n) out[i] = before + sum - own;
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}
