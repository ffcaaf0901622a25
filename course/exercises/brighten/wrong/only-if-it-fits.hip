// expected cause: left-dark
__global__ void brighten(int n, int amount, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (in[i] + amount <= 255) out[i] = in[i] + amount;
    }
}
