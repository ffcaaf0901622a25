// expected cause: missing-guard
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
