// One pass: each tile publishes its own sum, then looks back over the tiles before it until it finds one that knows
// the whole sum up to itself. State and value share 64 bits, so that one atomic store publishes both.
__device__ unsigned long long pack(unsigned state, int value) { return (unsigned long long)state << 32 | (unsigned)value; }

__global__ void scan(int n, const int* in, int* out, unsigned* work)
{
    enum { NOTHING, OWN, ALL };
    __shared__ int sums[32];                              // of the waves
    __shared__ int tile, before;
    unsigned* ticket = work;
    unsigned long long* states = (unsigned long long*)(work + 2);
    int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
    int tiles = (n + blockDim.x - 1) / blockDim.x;

    while (true) {
        if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);  // tiles are started in order
        __syncthreads();
        int mine = tile;
        if (mine >= tiles) return;
        int i = mine * blockDim.x + threadIdx.x;

        int sum = i < n ? in[i] : 0;
        for (int step = 1; step < warpSize; step *= 2) {
            int other = __shfl_up(sum, step);
            if (lane >= step) sum += other;
        }
        if (lane == warpSize - 1) sums[wave] = sum;
        __syncthreads();
        int total = 0;
        for (int w = 0; w < blockDim.x / warpSize; ++w) {
            if (w == wave) sum += total;
            total += sums[w];
        }

        if (threadIdx.x == 0) {
            int prefix = 0;
            if (mine > 0) {
                __hip_atomic_store(&states[mine], pack(OWN, total), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
                for (int back = mine - 1; back >= 0;) {
                    unsigned long long seen =
                        __hip_atomic_load(&states[back], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
                    unsigned state = seen >> 32;
                    if (state == NOTHING) { __builtin_amdgcn_s_sleep(1); continue; }
                    prefix += (int)(unsigned)seen;
                    if (state == ALL) break;
                    --back;
                }
            }
            __hip_atomic_store(&states[mine], pack(ALL, prefix + total), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            before = prefix;
        }
        __syncthreads();
        if (i < n) out[i] = before + sum;
        __syncthreads();                                  // tile, before and sums are used again
    }
}
