// expected cause: work-not-shared
__global__ void convert(int n, const int* celsius, float* fahrenheit)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int k = 0; k < n; k++) fahrenheit[k] = celsius[k] * 1.8f + 32.0f;
    }
}
