// expected cause: last-part
__global__ void reverse_parts(int n, float* data)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) tile[t] = data[i];
    __syncthreads();
    if (i < n) data[i] = tile[blockDim.x - 1 - t];
}
