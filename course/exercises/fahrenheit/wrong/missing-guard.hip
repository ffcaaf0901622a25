// expected cause: missing-guard
__global__ void convert(int n, const int* celsius, float* fahrenheit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    fahrenheit[i] = celsius[i] * 1.8f + 32.0f;
}
