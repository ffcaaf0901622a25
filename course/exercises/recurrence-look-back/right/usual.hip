// First the step (a, b), then another one: x -> a * x + b.
__device__ uint2 then(uint2 first, uint2 second)
{
    return make_uint2(first.x * second.x, second.x * first.y + second.y);
}

// Publishes the tile's own steps, and all steps up to its end; returns those of all tiles before it, in their order.
__device__ uint2 look_back(int tile, uint2 own, unsigned* state, uint2* own_steps, uint2* all_steps)
{
    uint2 before = make_uint2(1, 0);
    own_steps[tile] = own;
    if (tile > 0) {
        __hip_atomic_store(&state[tile], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
        for (int back = tile - 1;;) {
            unsigned seen = __hip_atomic_load(&state[back], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
            if (seen == 0) {
                __builtin_amdgcn_s_sleep(1);
                continue;
            }
            if (seen == 2) {
                before = then(all_steps[back], before);
                break;
            }
            before = then(own_steps[back], before);
            back--;
        }
    }
    all_steps[tile] = then(before, own);
    __hip_atomic_store(&state[tile], 2u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    return before;
}

__global__ void recurrence(int n, const unsigned* a, const unsigned* b, unsigned* x, unsigned* ticket, unsigned* state,
                           uint2* own_steps, uint2* all_steps)
{
    __shared__ uint2 steps[256];
    __shared__ uint2 before;
    __shared__ int tile;
    int t = threadIdx.x;
    if (t == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    int i = tile * blockDim.x + t;
    steps[t] = i < n ? make_uint2(a[i], b[i]) : make_uint2(1, 0);
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        uint2 mine = steps[t];
        if (t >= step) mine = then(steps[t - step], mine);
        __syncthreads();
        steps[t] = mine;
        __syncthreads();
    }
    if (t == 0) {
        // Every fourth tile is late, as tiles are by chance on hardware.
        if (tile % 4 == 1) {
            for (int k = 0; k < 4; k++) __builtin_amdgcn_s_sleep(127);
        }
        before = look_back(tile, steps[blockDim.x - 1], state, own_steps, all_steps);
    }
    __syncthreads();
    if (i < n) x[i] = then(before, steps[t]).y;
}
