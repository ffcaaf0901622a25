__global__ void convert(int n, const int* celsius, float* fahrenheit)
{
    const int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n) return;
    fahrenheit[i] = (9 * celsius[i] + 160) / 5.0f;
}
