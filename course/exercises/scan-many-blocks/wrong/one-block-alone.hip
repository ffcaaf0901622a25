// expected cause: one-block-alone
__global__ void scan(int n, const int* in, int* out, unsigned* work)
{
    if (blockIdx.x > 0) return;                           // the others are not needed
    __shared__ int lds[256];
    int carry = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        int i = start + threadIdx.x;
        lds[threadIdx.x] = i < n ? in[i] : 0;
        __syncthreads();
        for (int step = 1; step < blockDim.x; step *= 2) {
            int before = threadIdx.x >= step ? lds[threadIdx.x - step] : 0;
            __syncthreads();
            lds[threadIdx.x] += before;
            __syncthreads();
        }
        if (i < n) out[i] = carry + lds[threadIdx.x];
        carry += lds[blockDim.x - 1];
        __syncthreads();
    }
}
