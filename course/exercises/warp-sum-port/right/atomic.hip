__global__ void block_sums(int n, const int* in, int* sums)
{
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = s;
}
