// expected cause: data-race
__global__ void reverse_parts(int n, float* data)
{
    int t = threadIdx.x;
    int first = blockIdx.x * blockDim.x;
    int size = min((int)blockDim.x, n - first);
    float value = 0;
    if (t < size) value = data[first + size - 1 - t];
    if (t < size) data[first + t] = value;
}
