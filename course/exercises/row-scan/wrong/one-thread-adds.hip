// expected cause: loaded-by-the-wave
__global__ void row_scan(int n, const float* in, float* out)
{
    __shared__ float tile[64 * 32];
    int first = blockIdx.x * 64, count = min(64, n - first) * 32;
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < count; k++) { sum = k % 32 ? sum + in[first * 32 + k] : in[first * 32 + k]; tile[k] = sum; }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += 64) out[first * 32 + k] = tile[k];
}
