// expected cause: loads-of-others
__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    if (threadIdx.x % warpSize) return;
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int here = min((int)warpSize, (int)blockDim.x - (int)threadIdx.x);
    for (int k = 0; k < keys; k++) {
        int c = 0;
        for (int i = first; i < first + here && i < n; i++) c += key[i] == k;
        if (c) atomicAdd(&bins[k], c);
    }
}
