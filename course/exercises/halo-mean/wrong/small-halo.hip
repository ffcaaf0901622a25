// expected cause: halo-missing
__global__ void halo_mean(int n, int r, const float* in, float* out)
{
    extern __shared__ float tile[];
    int t = threadIdx.x, size = blockDim.x, start = blockIdx.x * size, i = start + t;
    tile[r + t] = i < n ? in[i] : 0.0f;
    if (t == 0) {
        for (int k = 0; k < r; k++) tile[k] = start - r + k >= 0 && start - r + k < n ? in[start - r + k] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * r; k++) sum += tile[t + k];
    if (i < n) out[i] = sum / (min(i + r, n - 1) - max(i - r, 0) + 1);
}
