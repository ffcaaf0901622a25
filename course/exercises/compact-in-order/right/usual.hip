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

__global__ void compact(int n, const int* in, int* out, int* count, unsigned* ticket, unsigned long long* states)
{
    __shared__ int kept_in[8];
    __shared__ int shared_tile, shared_before;
    int lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;

    if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1);
    __syncthreads();
    int tile = shared_tile;
    int i = tile * blockDim.x + threadIdx.x;

    int value = i < n ? in[i] : 0;
    bool keep = value > 0;
    unsigned long long mask = __ballot(keep);
    int place = __popcll(mask & ((1ull << lane) - 1));
    if (lane == 0) kept_in[wave] = __popcll(mask);
    __syncthreads();
    int own = 0;
    for (int w = 0; w < blockDim.x / warpSize; w++) {
        if (w < wave) place += kept_in[w];
        own += kept_in[w];
    }

    if (threadIdx.x == 0) {
        shared_before = look_back(states, tile, own);
        if (tile == gridDim.x - 1) *count = shared_before + own;
    }
    __syncthreads();
    if (keep) out[shared_before + place] = value;
}
