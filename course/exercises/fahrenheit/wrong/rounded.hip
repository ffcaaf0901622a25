// expected cause: rounded
__global__ void convert(int n, const int* celsius, float* fahrenheit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) fahrenheit[i] = 9 * celsius[i] / 5 + 32;
}
