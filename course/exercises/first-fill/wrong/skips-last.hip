// expected cause: skips-last
__global__ void fill(int n, float value, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) out[i] = value;
}
