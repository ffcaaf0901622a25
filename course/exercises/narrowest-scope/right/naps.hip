// The same with a pause in each turn of the loops: the compiler then makes two copies of an acquire.
__global__ void pass_on(int n, const int* in, int* first, int* second, int* flags, int* out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n; i++) first[i] = 2 * in[i];
        __hip_atomic_store(&flags[0], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    if (blockIdx.x == 0 && threadIdx.x == 64) {
        while (!__hip_atomic_load(&flags[0], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP)) __builtin_amdgcn_s_sleep(1);
        for (int i = 0; i < n; i++) second[i] = first[i] + 1;
        __hip_atomic_store(&flags[1], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (!__hip_atomic_load(&flags[1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)) __builtin_amdgcn_s_sleep(1);
        for (int i = 0; i < n; i++) out[i] = first[i] * second[i];
    }
}
