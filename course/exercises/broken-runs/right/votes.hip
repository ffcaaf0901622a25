const int broken_line = 7;

// __syncthreads_count counts the threads of the block for which the condition holds.
__global__ void run_starts(int n, const int* in, int* counts)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    bool starts = i < n && (i == 0 || in[i] != in[i - 1]);
    int count = __syncthreads_count(starts);
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
