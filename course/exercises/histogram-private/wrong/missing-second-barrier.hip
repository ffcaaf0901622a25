// expected cause: barrier-after-counting
__global__ void histogram(int n, const unsigned char* data, unsigned* bins)
{
    __shared__ unsigned own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[data[i]], 1);
    }
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        if (own[b] > 0) atomicAdd(&bins[b], own[b]);
    }
}
