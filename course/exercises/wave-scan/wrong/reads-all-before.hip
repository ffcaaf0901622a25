// expected cause: loads-of-others
__global__ void running_totals(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int total = 0;
    for (int k = i - threadIdx.x % warpSize; k <= i; k++) total += in[k];
    out[i] = total;
}
