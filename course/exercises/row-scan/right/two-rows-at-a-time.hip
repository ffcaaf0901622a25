__global__ void row_scan(int n, const float* in, float* out)
{
    int lane = threadIdx.x % 32;
    for (int row = blockIdx.x * 64 + threadIdx.x / 32; row < blockIdx.x * 64 + 64; row += 2) {
        float v = row < n ? in[row * 32 + lane] : 0;
        for (int s = 1; s < 32; s *= 2) { float u = __shfl_up(v, s, 32); if (lane >= s) v += u; }
        if (row < n) out[row * 32 + lane] = v;
    }
}
