__global__ void block_sums(int n, const int* in, int* sums)
{
    __shared__ int s[1024];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        __syncthreads();
        if (t < step) s[t] += s[t + step];
    }
    if (t == 0) sums[blockIdx.x] = s[0];
}
