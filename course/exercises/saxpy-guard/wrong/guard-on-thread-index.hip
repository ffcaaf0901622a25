// expected cause: guard-on-thread-index
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < n) y[i] = a * x[i] + y[i];
}
