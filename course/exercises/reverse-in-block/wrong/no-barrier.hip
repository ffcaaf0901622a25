// expected cause: data-race
__global__ void reverse_parts(int n, float* data)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    int first = blockIdx.x * blockDim.x;
    int size = min((int)blockDim.x, n - first);
    if (t < size) tile[t] = data[first + t];
    if (t < size) data[first + t] = tile[size - 1 - t];
}
