// expected cause: negative
__global__ void countdown(int n, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 0 - i;
    }
}
