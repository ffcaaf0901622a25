// expected cause: no-limit
__global__ void brighten(int n, int amount, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] + amount;
    }
}
