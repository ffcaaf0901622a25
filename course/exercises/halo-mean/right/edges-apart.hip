__global__ void halo_mean(int n, int r, const float* in, float* out)
{
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, b = blockDim.x;
    tile[r + t] = i < n ? in[i] : 0;
    for (int k = t; k < 2 * r; k += b) {
        int at = k < r ? k : b + k, j = i - t - r + at;
        tile[at] = j >= 0 && j < n ? in[j] : 0;
    }
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    int count = 0;
    for (int k = -r; k <= r; k++)
        if (i + k >= 0 && i + k < n) { sum += tile[r + t + k]; count++; }
    out[i] = sum / count;
}
