// The first wave scans the sums of all waves.
__device__ int wave_scan(int value, int lane)
{
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(value, step);
        if (lane >= step) value += lower;
    }
    return value;
}

__global__ void scan_blocks(int n, const int* in, int* out, int* totals)
{
    __shared__ int of_wave[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int lane = t % warpSize, wave = t / warpSize, waves = blockDim.x / warpSize;
    int own = 0;
    if (i < n) own = in[i];
    int sum = wave_scan(own, lane);
    if (lane == warpSize - 1) of_wave[wave] = sum;
    __syncthreads();
    if (wave == 0) {
        int upto = wave_scan(lane < waves ? of_wave[lane] : 0, lane);
        if (lane < waves) of_wave[lane] = upto;
    }
    __syncthreads();
    if (wave > 0) sum += of_wave[wave - 1];
    if (i < n) out[i] = sum - own;
    if (t == blockDim.x - 1) totals[blockIdx.x] = sum;
}
