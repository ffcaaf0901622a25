// expected cause: missing-guard
__global__ void brighten(int n, int amount, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int pixel = in[i] + amount;
    if (pixel > 255) pixel = 255;
    out[i] = pixel;
}
