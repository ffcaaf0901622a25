// expected cause: missing-guard
__global__ void fill(int n, float value, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = value;
}
