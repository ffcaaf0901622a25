// expected cause: memory-lines
__device__ int block_scan(int value, int* lds)
{
    lds[threadIdx.x] = value;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int before = threadIdx.x >= step ? lds[threadIdx.x - step] : 0;
        __syncthreads();
        lds[threadIdx.x] += before;
        __syncthreads();
    }
    return lds[threadIdx.x];
}

// Nobody waits for anybody: each tile adds up all elements before it once more.
__global__ void scan(int n, const int* in, int* out, unsigned* work)
{
    __shared__ int lds[256];
    for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
        int own = 0;
        for (int k = threadIdx.x; k < start; k += blockDim.x) own += in[k];
        block_scan(own, lds);
        int carry = lds[blockDim.x - 1];
        __syncthreads();
        int i = start + threadIdx.x;
        int sum = block_scan(i < n ? in[i] : 0, lds) + carry;
        if (i < n) out[i] = sum;
        __syncthreads();
    }
}
