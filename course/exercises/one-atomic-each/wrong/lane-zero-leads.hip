// expected cause: one-leader-for-all
__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long same = __match_any(key[i]);
    if (threadIdx.x % warpSize == 0) atomicAdd(&bins[key[i]], __popcll(same));
}
