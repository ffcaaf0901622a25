__global__ void block_sums(int n, const float* in, float* sums)
{
    __shared__ float s;
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    if (i < n) atomicAdd(&s, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = s;
}
