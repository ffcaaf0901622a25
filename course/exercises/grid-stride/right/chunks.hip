__global__ void double_and_add(int n, float* x)
{
    int threads = gridDim.x * blockDim.x;
    int chunk = (n + threads - 1) / threads;
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
    for (int i = begin; i < begin + chunk && i < n; ++i) {
        x[i] = x[i] + x[i] + 1.0f;
    }
}
