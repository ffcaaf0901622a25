// expected cause: ticket-not-atomic
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
        last = *done == gridDim.x - 1;
        *done += 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int total = 0;
        for (int b = 0; b < gridDim.x; ++b) {
            total += partial[b];
            out[b] = total;
        }
        *done = 0;
    }
}
