// expected cause: wraps-around
__global__ void brighten(int n, int amount, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned char pixel = in[i] + amount;
        out[i] = pixel;
    }
}
