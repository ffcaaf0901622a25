// expected cause: never-written
__global__ void __launch_bounds__(256) count(int n, const unsigned char* data, int* counts)
{
    __shared__ unsigned short mine[16][256];
    int t = threadIdx.x, first = blockIdx.x * 76800, end = min(first + 76800, n);
    for (int j = first + t; j < end; j += 256) mine[data[j]][t]++;
    __syncthreads();
    if (t < 16) {
        int sum = 0;
        for (int other = 0; other < 256; other++) sum += mine[t][other];
        counts[blockIdx.x * 16 + t] = sum;
    }
}
