// expected cause: sign-bit
__global__ void argmax(int n, const int* in, unsigned long long* best)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < n) {
        unsigned value = (unsigned)in[row * n + i];
        unsigned long long key = (unsigned long long)value << 32 | ~(unsigned)i;
        atomicMax(&best[row], key);
    }
}
