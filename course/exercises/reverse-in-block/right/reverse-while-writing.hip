// The tile is filled the other way round; who has no element leaves after the barrier.
__global__ void reverse_parts(int n, float* data)
{
    __shared__ float tile[256];
    int first = blockIdx.x * blockDim.x;
    int size = n - first < (int)blockDim.x ? n - first : blockDim.x;
    bool mine = (int)threadIdx.x < size;
    float value = 0;
    if (mine) value = data[first + threadIdx.x];
    if (mine) tile[size - 1 - threadIdx.x] = value;
    __syncthreads();
    if (!mine) return;
    data[first + threadIdx.x] = tile[threadIdx.x];
}
