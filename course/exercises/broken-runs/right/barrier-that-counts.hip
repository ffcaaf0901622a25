constexpr int broken_line{7};

__global__ void run_starts(int n, const int* in, int* counts)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    int starts = 0;
    if (i < n) starts = i == 0 || in[i] != in[i - 1];
    int all = __syncthreads_count(starts);
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}
