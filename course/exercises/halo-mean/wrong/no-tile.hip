// expected cause: loaded-again
__global__ void halo_mean(int n, int r, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int begin = max(i - r, 0), end = min(i + r, n - 1);
    float sum = 0;
    for (int j = begin; j <= end; j++) sum += in[j];
    out[i] = sum / (end - begin + 1);
}
