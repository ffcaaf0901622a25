__global__ void countdown(int n, int* out)
{
    int value = blockIdx.x * blockDim.x + threadIdx.x;
    if (value < n) {
        out[n - 1 - value] = value;
    }
}
