// expected cause: missing-guard
__global__ void double_and_add(int n, float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        x[i] = 2.0f * x[i] + 1.0f;
        i += gridDim.x * blockDim.x;
    } while (i < n);
}
