// expected cause: loaded-by-the-wave
__global__ void block_sums(int n, const float* in, float* sums)
{
    if (threadIdx.x) return;
    float sum = 0;
    for (int i = blockIdx.x * 256; i < n && i < blockIdx.x * 256 + 256; i++) sum += in[i];
    sums[blockIdx.x] = sum;
}
