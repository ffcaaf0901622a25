__global__ void __launch_bounds__(256) count(int n, const unsigned char* data, int* counts)
{
    __shared__ int total[16];
    int t = threadIdx.x, first = blockIdx.x * 76800, end = min(first + 76800, n);
    if (t < 16) total[t] = 0;
    __syncthreads();
    int c[16] = {};
    for (int j = first + t; j < end; j += 256)
        for (int kind = 0; kind < 16; kind++) c[kind] += data[j] == kind;
    for (int kind = 0; kind < 16; kind++) atomicAdd(&total[kind], c[kind]);
    __syncthreads();
    if (t < 16) counts[blockIdx.x * 16 + t] = total[t];
}
