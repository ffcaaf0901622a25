// expected cause: no-atomics
__global__ void count_keys(int n, int keys, const int* key, int* bins)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= keys) return;
    int found = 0;
    for (int i = 0; i < n; i++) found += key[i] == k;
    bins[k] = found;
}
