// expected cause: loaded-by-the-wave
__global__ void block_sums(int n, const int* in, int* sums)
{
    if (threadIdx.x > 0) return;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x; i < n && i < (blockIdx.x + 1) * blockDim.x; i++) sum += in[i];
    sums[blockIdx.x] = sum;
}
