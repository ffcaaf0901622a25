__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = i < n ? key[i] : -1, lane = threadIdx.x % warpSize, same = 0;
    bool leader = true;
    for (int other = 0; other < warpSize; other++) {
        int theirs = __builtin_amdgcn_readlane(k, other);
        bool there = (__ballot(1) >> other) & 1;
        if (there && theirs == k) { same++; if (other < lane) leader = false; }
    }
    if (k >= 0 && leader) atomicAdd(&bins[k], same);
}
