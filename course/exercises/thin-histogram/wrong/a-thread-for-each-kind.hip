// expected cause: few-threads-count
__global__ void __launch_bounds__(256) count(int n, const unsigned char* data, int* counts)
{
    int first = blockIdx.x * 76800, end = min(first + 76800, n);
    if (threadIdx.x < 16) {
        int c = 0;
        for (int j = first; j < end; j++) c += data[j] == threadIdx.x;
        counts[blockIdx.x * 16 + threadIdx.x] = c;
    }
}
