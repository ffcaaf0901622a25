// expected cause: loaded-by-the-wave
__global__ void halo_mean(int n, int r, const float* in, float* out)
{
    extern __shared__ float tile[];
    int first = blockIdx.x * blockDim.x;
    if (threadIdx.x == 0)
        for (int k = 0; k < blockDim.x + 2 * r; k++) { int j = first - r + k; tile[k] = j >= 0 && j < n ? in[j] : 0; }
    __syncthreads();
    int i = first + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k <= 2 * r; k++) sum += tile[threadIdx.x + k];
    out[i] = sum / (min(i + r, n - 1) - max(i - r, 0) + 1);
}
