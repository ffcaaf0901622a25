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

// The places of a tile's elements by a scan of flags with shuffles; the last thread knows what the tile keeps.
__global__ void compact(int n, const int* in, int* out, int* count, unsigned* ticket, unsigned long long* states)
{
    __shared__ int upto[8];
    __shared__ int mine, start;
    int t = threadIdx.x, lane = t % warpSize, wave = t / warpSize;
    if (t == 0) mine = __hip_atomic_fetch_add(ticket, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __syncthreads();
    int first = mine * blockDim.x, i = first + t;
    int value = 0;
    if (i < n) value = in[i];
    int kept = value > 0 ? 1 : 0;
    for (int step = 1; step < warpSize; step *= 2) {
        int lower = __shfl_up(kept, step);
        if (lane >= step) kept += lower;
    }
    if (lane == warpSize - 1) upto[wave] = kept;
    __syncthreads();
    for (int w = 0; w < wave; w++) kept += upto[w];
    if (t == blockDim.x - 1) {
        start = look_back(states, mine, kept);
        if (first + blockDim.x >= n) *count = start + kept;
    }
    __syncthreads();
    if (value > 0) out[start + kept - 1] = value;
}
