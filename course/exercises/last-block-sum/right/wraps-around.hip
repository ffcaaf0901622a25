__global__ void totals(int n, const int* in, int* partial, unsigned* done, int* out)
{
    __shared__ int sums[8];
    __shared__ unsigned ticket;
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = i < n ? in[i] : 0;
    for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_down(value, step);
    if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < (int)(blockDim.x / warpSize); w++) sum += sums[w];
        __hip_atomic_store(&partial[blockIdx.x], sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __threadfence();
        ticket = atomicInc(done, gridDim.x - 1);           // the last block's makes it 0 again
        __threadfence();
    }
    __syncthreads();
    if (ticket != gridDim.x - 1) return;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        int sum = 0;
        for (unsigned k = 0; k <= b; k++) sum += __hip_atomic_load(&partial[k], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        out[b] = sum;
    }
}
