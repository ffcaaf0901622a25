// expected cause: column-off-by-one
__global__ void mirror(int width, int height, const int* in, int* out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + (width - x)] = in[y * width + x];
}
