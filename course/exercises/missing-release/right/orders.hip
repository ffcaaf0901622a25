__global__ void turns(int rounds, int* box, int* turn)
{
    int i = threadIdx.x;
    for (int r = blockIdx.x; r < rounds; r += 2) {
        if (i == 0) while (__hip_atomic_load(turn, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != r) {}
        __syncthreads();
        box[i] = 3 * box[i] + r;
        __syncthreads();
        if (i == 0) __hip_atomic_store(turn, r + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
}
