// expected cause: wrong-axis
__global__ void mirror(int width, int height, const int* in, int* out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[(height - 1 - y) * width + x] = in[y * width + x];
}
