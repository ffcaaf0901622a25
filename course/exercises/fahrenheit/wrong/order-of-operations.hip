// expected cause: order-of-operations
__global__ void convert(int n, const int* celsius, float* fahrenheit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) fahrenheit[i] = (celsius[i] + 32) * 9.0f / 5.0f;
}
