// A thread has four neighbouring elements; those past the end are left out one by one.
__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < min(first + 4, n); i++) y[i] = a * x[i] + y[i];
}
