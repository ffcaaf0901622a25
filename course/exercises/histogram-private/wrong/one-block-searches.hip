// expected cause: global-atomics
__global__ void histogram(int n, const unsigned char* data, unsigned* bins)
{
        if (blockIdx.x > 0) return;
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        unsigned count = 0;
        for (int i = 0; i < n; ++i) count += data[i] == b;
        bins[b] = count;
    }
}