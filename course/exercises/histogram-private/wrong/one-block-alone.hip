// expected cause: global-atomics
__global__ void histogram(int n, const unsigned char* data, unsigned* bins)
{
    if (blockIdx.x > 0) return;                           // the others are not needed
    __shared__ unsigned own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&own[data[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = own[b];
}
