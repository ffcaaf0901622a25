// A block finds its own best element first; then one thread tries to put it in, until it is there or a better one is.
__global__ void argmax(int n, const int* in, unsigned long long* best)
{
    __shared__ unsigned long long keys[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    keys[threadIdx.x] =
        i < n ? (unsigned long long)((unsigned)in[row * n + i] ^ 0x80000000u) << 32 | ~(unsigned)i : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) keys[threadIdx.x] = max(keys[threadIdx.x], keys[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned long long key = keys[0];
        unsigned long long seen = __hip_atomic_load(&best[row], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        while (key > seen) {
            unsigned long long assumed = seen;
            seen = atomicCAS(&best[row], assumed, key);
            if (seen == assumed) break;
        }
    }
}
