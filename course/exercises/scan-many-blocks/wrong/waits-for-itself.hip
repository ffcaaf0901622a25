// expected cause: deadlock
__global__ void scan(int n, const int* in, int* out, unsigned* work)
{
    __shared__ int lds[256];
    __shared__ int before;
    unsigned* sums = work;                                // of all tiles up to this one
    unsigned* ready = work + (n + blockDim.x - 1) / blockDim.x;
    int tiles = (n + blockDim.x - 1) / blockDim.x;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int i = tile * blockDim.x + threadIdx.x;
        lds[threadIdx.x] = i < n ? in[i] : 0;
        __syncthreads();
        for (int step = 1; step < blockDim.x; step *= 2) {
            int add = threadIdx.x >= step ? lds[threadIdx.x - step] : 0;
            __syncthreads();
            lds[threadIdx.x] += add;
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            before = 0;
            if (tile > 0) {
                while (__hip_atomic_load(&ready[tile], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
                    __builtin_amdgcn_s_sleep(1);
                before = sums[tile - 1];
            }
            sums[tile] = before + lds[blockDim.x - 1];
            __threadfence();
            __hip_atomic_store(&ready[tile], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        }
        __syncthreads();
        if (i < n) out[i] = before + lds[threadIdx.x];
        __syncthreads();
    }
}
