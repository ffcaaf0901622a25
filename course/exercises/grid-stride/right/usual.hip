__global__ void double_and_add(int n, float* x)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 2.0f * x[i] + 1.0f;
}
