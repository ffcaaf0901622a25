__global__ void saxpy(int n, float a, const float* x, float* y)
{
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = fmaf(x[i], a, y[i]);
}
