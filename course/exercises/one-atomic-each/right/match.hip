__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int lane = threadIdx.x % warpSize;
    unsigned long long same = __match_any(key[i]);
    if (lane == __ffsll(same) - 1) atomicAdd(&bins[key[i]], __popcll(same));
}
