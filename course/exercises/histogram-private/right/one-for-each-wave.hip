// Every wave has a histogram of its own (up to eight), so that waves do not get in each other's way.
__global__ void histogram(int n, const unsigned char* data, unsigned* bins)
{
    __shared__ unsigned own[8][256];
    int wave = threadIdx.x / warpSize % 8;
    for (int b = threadIdx.x; b < 8 * 256; b += blockDim.x) own[b / 256][b % 256] = 0;
    __syncthreads();
    // The elements of a block are neighbours.
    int each = (n + gridDim.x - 1) / gridDim.x;
    int end = min(n, (int)(blockIdx.x + 1) * each);
    for (int i = blockIdx.x * each + threadIdx.x; i < end; i += blockDim.x) {
        __hip_atomic_fetch_add(&own[wave][data[i]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        unsigned total = 0;
        for (int w = 0; w < 8; ++w) total += own[w][b];
        if (total > 0) atomicAdd(&bins[b], total);
    }
}
