__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int k = key[i];
        unsigned long long same = __activemask();
        for (int bit = 1; bit < keys; bit *= 2) {
            unsigned long long votes = __ballot(k & bit);
            same &= (k & bit) ? votes : ~votes;
        }
        bool last = (same >> (threadIdx.x % warpSize)) == 1;
        if (last) atomicAdd(&bins[k], __popcll(same));
    }
}
