// expected cause: memory-lines
// Every block adds up the elements of all blocks before it, and draws a ticket for nothing.
__global__ void totals(int n, const int* in, int* partial, unsigned* done, int* out)
{
    __shared__ int lds[256];
    int own = 0, end = min(n, (int)((blockIdx.x + 1) * blockDim.x));
    for (int i = threadIdx.x; i < end; i += blockDim.x) own += in[i];
    lds[threadIdx.x] = own;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) lds[threadIdx.x] += lds[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = lds[0];
        atomicInc(done, gridDim.x - 1);
    }
}
