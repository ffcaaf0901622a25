__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool left = i < n;
    int mine = left ? key[i] : -1;
    while (__any(left)) {
        if (left) {
            int wanted = __builtin_amdgcn_readfirstlane(mine);
            unsigned long long same = __ballot(mine == wanted);
            if (mine == wanted) {
                unsigned long long lower = same & ((1ull << (threadIdx.x % warpSize)) - 1);
                if (lower == 0) atomicAdd(bins + wanted, static_cast<int>(__popcll(same)));
                left = false;
            }
        }
    }
}
