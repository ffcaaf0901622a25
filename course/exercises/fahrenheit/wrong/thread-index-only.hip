// expected cause: thread-index-only
__global__ void convert(int n, const int* celsius, float* fahrenheit)
{
    int i = threadIdx.x;
    if (i < n) fahrenheit[i] = celsius[i] * 1.8f + 32.0f;
}
