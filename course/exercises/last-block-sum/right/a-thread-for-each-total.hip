__global__ void totals(int n, const int* in, int* partial, unsigned* done, int* out)
{
        __shared__ int lds[256];
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    lds[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) lds[threadIdx.x] += lds[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = lds[0];
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
            int sum = 0;
            for (int j = 0; j <= b; ++j) sum += partial[j];
            out[b] = sum;
        }
        if (threadIdx.x == 0) *done = 0;
    }
}
