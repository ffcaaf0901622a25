// expected cause: data-race
__global__ void __launch_bounds__(256) count(int n, const unsigned char* data, int* counts)
{
    __shared__ unsigned short mine[16][256];
    int t = threadIdx.x, first = blockIdx.x * 76800, end = min(first + 76800, n);
    for (int kind = 0; kind < 16; kind++) mine[kind][t] = 0;
    for (int j = first + t; j < end; j += 256) mine[data[j]][t]++;
    if (t < 16) {
        int sum = 0;
        for (int other = 0; other < 256; other++) sum += mine[t][other];
        counts[blockIdx.x * 16 + t] = sum;
    }
}
