// What all tiles before this one keep; `own` is what this tile keeps. One thread of each tile calls it.
__device__ int look_back(unsigned long long* states, int tile, int own)
{
    const unsigned long long OWN = 1ull << 32, ALL = 2ull << 32;
    int before = 0;
    if (tile > 0) {
        __hip_atomic_store(&states[tile], OWN | own, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        for (int back = tile - 1;;) {
            unsigned long long seen = __hip_atomic_load(&states[back], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            if (seen == 0) {
                __builtin_amdgcn_s_sleep(1);
                continue;
            }
            before += (int)(unsigned)seen;
            if (seen & ALL) break;
            back--;
        }
    }
    __hip_atomic_store(&states[tile], ALL | (before + own), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    return before;
}

// A scan of flags in LDS by the whole block; who keeps its number loads it once more when it stores.
__global__ void compact(int n, const int* in, int* out, int* count, unsigned* ticket, unsigned long long* states)
{
    __shared__ int flags[2][256];
    __shared__ int tile, before;
    int t = threadIdx.x, last = blockDim.x - 1, now = 0;
    if (t == last) tile = atomicAdd(ticket, 1);
    __syncthreads();
    int i = tile * blockDim.x + t;
    bool keep = i < n && in[i] > 0;
    flags[0][t] = keep;
    __syncthreads();
    for (int step = 1; step <= last; step *= 2) {
        flags[1 - now][t] = flags[now][t] + (t >= step ? flags[now][t - step] : 0);
        now = 1 - now;
        __syncthreads();
    }
    if (t == last) {
        before = look_back(states, tile, flags[now][t]);
        if ((tile + 1) * blockDim.x >= n) *count = before + flags[now][t];
    }
    __syncthreads();
    if (keep) out[before + flags[now][t] - 1] = in[i];
}
