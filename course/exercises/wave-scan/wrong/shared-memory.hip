// expected cause: shared-memory
__global__ void running_totals(int n, const int* in, int* out)
{
    __shared__ int part[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    int total = 0;
    for (int k = t / warpSize * warpSize; k <= t; k++) total += part[k];
    if (i < n) out[i] = total;
}
