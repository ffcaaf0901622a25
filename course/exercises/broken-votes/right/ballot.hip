const int broken_line = 7;

__global__ void count_above(int n, int limit, const int* in, int* counts)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long votes = __ballot(i < n && in[i] > limit);
    if (threadIdx.x % warpSize == 0) atomicAdd(&count, __popcll(votes));
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
