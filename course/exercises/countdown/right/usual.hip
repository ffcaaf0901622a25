__global__ void countdown(int n, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = n - 1 - i;
    }
}
