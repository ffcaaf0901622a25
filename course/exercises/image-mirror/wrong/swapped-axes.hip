// expected cause: swapped-axes
__global__ void mirror(int width, int height, const int* in, int* out)
{
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width && y < height) out[y * width + (width - 1 - x)] = in[y * width + x];
}
