// expected cause: shared-memory
__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    __shared__ int mine[1024];
    for (int k = threadIdx.x; k < keys; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&mine[key[i]], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < keys; k += blockDim.x) if (mine[k]) atomicAdd(&bins[k], mine[k]);
}
