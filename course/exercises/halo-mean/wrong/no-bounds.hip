// expected cause: outside-the-array
__global__ void halo_mean(int n, int r, const float* in, float* out)
{
    extern __shared__ float tile[];
    int places = blockDim.x + 2 * r;
    int first = (int)(blockIdx.x * blockDim.x) - r;
    for (int k = threadIdx.x; k < places; k += blockDim.x) tile[k] = in[first + k];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * r; k++) sum += tile[threadIdx.x + k];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sum / (min(i + r, n - 1) - max(i - r, 0) + 1);
}
