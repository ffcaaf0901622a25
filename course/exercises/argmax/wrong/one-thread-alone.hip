// expected cause: one-thread-alone
__global__ void argmax(int n, const int* in, unsigned long long* best)
{
        int row = blockIdx.y;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        unsigned long long top = 0;
        for (int i = 0; i < n; ++i) {
            unsigned long long key = (unsigned long long)((unsigned)in[row * n + i] ^ 0x80000000u) << 32 | (unsigned)~i;
            if (key > top) top = key;
        }
        best[row] = top;
    }
}