// expected cause: mixed-groups
__global__ void keep_positive(int n, const int* in, int* out, int* count)
{
    __shared__ int counts[256 / 32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    bool keep = i < n && in[i] > 0;
    unsigned long long mask = __ballot(keep);
    int before = __popcll(mask & ((1ull << lane) - 1));
    if (lane == 0) counts[warp] = __popcll(mask);
    __syncthreads();
    int start = 0, total = 0;
    for (int w = 0; w < (int)(blockDim.x / 32); w++) {
        if (w < warp) start += counts[w];
        total += counts[w];
    }
    if (keep) out[blockIdx.x * blockDim.x + start + before] = in[i];
    if (threadIdx.x == 0) count[blockIdx.x] = total;
}
