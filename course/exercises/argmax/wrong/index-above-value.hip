// expected cause: index-above-value
__global__ void argmax(int n, const int* in, unsigned long long* best)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < n) {
        unsigned value = (unsigned)in[row * n + i] ^ 0x80000000u;
        unsigned long long key = (unsigned long long)~(unsigned)i << 32 | value;
        atomicMax(&best[row], key);
    }
}
