// expected cause: one-by-one
// Every block adds up the elements of all blocks before it, and draws a ticket for nothing.
__global__ void totals(int n, const int* in, int* partial, unsigned* done, int* out)
{
        int sum = 0;
    if (threadIdx.x == 0) {
        int end = (blockIdx.x + 1) * blockDim.x;
        for (int i = 0; i < end && i < n; ++i) sum += in[i];
        out[blockIdx.x] = sum;
        atomicInc(done, gridDim.x - 1);
    }
}