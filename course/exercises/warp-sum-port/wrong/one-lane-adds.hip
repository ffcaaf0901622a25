// expected cause: few-lanes
__global__ void block_sums(int n, const int* in, int* sums)
{
    __shared__ int s[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < blockDim.x; k++) sum += s[k];
        sums[blockIdx.x] = sum;
    }
}
