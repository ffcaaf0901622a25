__global__ void wave_sum(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    v = __reduce_add_sync(__activemask(), v);
    int waves = (blockDim.x + warpSize - 1) / warpSize;
    if (threadIdx.x % warpSize == 0) out[blockIdx.x * waves + threadIdx.x / warpSize] = v;
}
