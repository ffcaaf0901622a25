// First the step (a, b), then another one: x -> a * x + b.
__device__ uint2 then(uint2 first, uint2 second)
{
    return make_uint2(first.x * second.x, second.x * first.y + second.y);
}

// Fences and relaxed accesses to the state; the last tiles before are looked at one by one.
__device__ uint2 look_back(int tile, uint2 own, unsigned* state, uint2* own_steps, uint2* all_steps)
{
    own_steps[tile] = own;
    __threadfence();
    if (tile > 0) atomicExch(&state[tile], 1u);
    uint2 found = make_uint2(1, 0);
    int back = tile - 1;
    while (back >= 0) {
        unsigned seen;
        do {
            seen = __hip_atomic_load(&state[back], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            if (seen == 0) __builtin_amdgcn_s_sleep(2);
        } while (seen == 0);
        __threadfence();
        uint2 step = seen == 2 ? all_steps[back] : own_steps[back];
        found = then(step, found);
        back = seen == 2 ? -1 : back - 1;
    }
    all_steps[tile] = then(found, own);
    __threadfence();
    atomicExch(&state[tile], 2u);
    return found;
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
