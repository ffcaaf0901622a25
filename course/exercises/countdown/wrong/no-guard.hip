// expected cause: missing-guard
__global__ void countdown(int n, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = n - 1 - i;
}
