// The ticket is release and acquire at once; the last block adds up with all its threads.
__global__ void totals(int n, const int* in, int* partial, unsigned* done, int* out)
{
    __shared__ int sum;
    __shared__ int lds[256];
    __shared__ unsigned ticket;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (t == 0) {
        partial[blockIdx.x] = sum;
        ticket = __hip_atomic_fetch_add(done, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    }
    __syncthreads();
    if (ticket != gridDim.x - 1) return;

    int carry = 0;
    for (int start = 0; start < gridDim.x; start += blockDim.x) {
        int value = start + t < gridDim.x ? partial[start + t] : 0;
        lds[t] = value;
        __syncthreads();
        for (int step = 1; step < blockDim.x; step *= 2) {
            int before = t >= step ? lds[t - step] : 0;
            __syncthreads();
            lds[t] += before;
            __syncthreads();
        }
        if (start + t < gridDim.x) out[start + t] = carry + lds[t];
        carry += lds[blockDim.x - 1];
        __syncthreads();
    }
    if (t == 0) *done = 0;
}
