// 32 lanes have a row, and scan it by shuffles: no LDS.
__global__ void row_scan(int n, const float* in, float* out)
{
    int first = blockIdx.x * 64;
    for (int k = threadIdx.x; k < 2048; k += 64) {
        bool there = first + k / 32 < n;
        float sum = there ? in[first * 32 + k] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            float left = __shfl_up(sum, step, 32);
            if (threadIdx.x % 32 >= step) sum += left;
        }
        if (there) out[first * 32 + k] = sum;
    }
}
