// expected cause: too-many-atomics
__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[key[i]], 1);
}
