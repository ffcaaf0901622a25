template <int scope>
__device__ void set(int* flag)
{
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, scope);
}

template <int scope>
__device__ void wait_for(int* flag)
{
    while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, scope)) {}
}

__global__ void pass_on(int n, const int* in, int* first, int* second, int* flags, int* out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = 0; i < n; i++) first[i] = 2 * in[i];
        set<__HIP_MEMORY_SCOPE_WORKGROUP>(&flags[0]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 64) {
        wait_for<__HIP_MEMORY_SCOPE_WORKGROUP>(&flags[0]);
        for (int i = 0; i < n; i++) second[i] = first[i] + 1;
        set<__HIP_MEMORY_SCOPE_AGENT>(&flags[1]);
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        wait_for<__HIP_MEMORY_SCOPE_AGENT>(&flags[1]);
        for (int i = 0; i < n; i++) out[i] = first[i] * second[i];
    }
}
