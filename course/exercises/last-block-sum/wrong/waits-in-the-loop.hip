// expected cause: no-waiting
__global__ void totals(int n, const int* in, int* partial, unsigned* done, int* out)
{
    __shared__ int lds[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    lds[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) lds[threadIdx.x] += lds[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        for (;;) {
            unsigned turn = atomicAdd(done, 0);
            if (turn == blockIdx.x) break;
        }
        __threadfence();
        int before = blockIdx.x ? atomicAdd(&partial[blockIdx.x - 1], 0) : 0;
        atomicExch(&partial[blockIdx.x], before + lds[0]);
        out[blockIdx.x] = before + lds[0];
        __threadfence();
        if (blockIdx.x == gridDim.x - 1) atomicExch(done, 0u);
        else atomicAdd(done, 1);
    }
}
