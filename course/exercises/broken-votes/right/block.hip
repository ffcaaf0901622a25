const int broken_line = 7;

// The whole block votes at once, whatever the wave size.
__global__ void count_above(int n, int limit, const int* in, int* counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(i < n && in[i] > limit);
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
