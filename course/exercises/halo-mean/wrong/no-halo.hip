// expected cause: halo-missing
__global__ void halo_mean(int n, int r, const float* in, float* out)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[r + threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * r; k++) sum += tile[threadIdx.x + k];
    if (i < n) out[i] = sum / (min(i + r, n - 1) - max(i - r, 0) + 1);
}
