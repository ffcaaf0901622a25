// expected cause: shared-memory
__global__ void wave_sum(int n, const int* in, int* out)
{
    __shared__ int part[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    if (t % warpSize == 0) {
        int sum = 0;
        for (int k = t; k < t + warpSize && k < static_cast<int>(blockDim.x); k++) sum += part[k];
        int waves = (blockDim.x + warpSize - 1) / warpSize;
        out[blockIdx.x * waves + t / warpSize] = sum;
    }
}
