// expected cause: global-atomics
__global__ void histogram(int n, const unsigned char* data, unsigned* bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[data[i]], 1);
    }
}
