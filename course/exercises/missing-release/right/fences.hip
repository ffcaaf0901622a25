// The same with fences, and relaxed accesses of turn.
__global__ void turns(int rounds, int* box, int* turn)
{
    int i = threadIdx.x;
    for (int r = blockIdx.x; r < rounds; r += 2) {
        if (i == 0) {
            while (__hip_atomic_load(turn, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != r) __builtin_amdgcn_s_sleep(1);
            __threadfence();
        }
        __syncthreads();
        box[i] = 3 * box[i] + r;
        __syncthreads();
        if (i == 0) {
            __threadfence();
            __hip_atomic_store(turn, r + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        }
    }
}
