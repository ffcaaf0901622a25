const int broken_line = 7;

__global__ void run_starts(int n, const int* in, int* counts)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    bool starts = i < n && (i == 0 || in[i] != in[i - 1]);
    if (starts) atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
