// expected cause: thread-index-only
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = threadIdx.x;
    if (blockIdx.x == 0 && i < n) y[i] = a * x[i] + y[i];
}
