// expected cause: counts-lost
__global__ void __launch_bounds__(256) count(int n, const unsigned char* data, int* counts)
{
    __shared__ int mine[16][128];
    int t = threadIdx.x, first = blockIdx.x * 76800, end = min(first + 76800, n);
    if (t < 128)
        for (int kind = 0; kind < 16; kind++) mine[kind][t] = 0;
    __syncthreads();
    for (int j = first + t; j < end; j += 256) mine[data[j]][t / 2]++;
    __syncthreads();
    if (t < 16) {
        int sum = 0;
        for (int other = 0; other < 128; other++) sum += mine[t][other];
        counts[blockIdx.x * 16 + t] = sum;
    }
}
