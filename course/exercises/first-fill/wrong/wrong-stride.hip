// expected cause: wrong-stride
__global__ void fill(int n, float value, float* out)
{
    int i = blockIdx.x * gridDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
