__global__ void mirror(int width, int height, const int* in, int* out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + (width - 1 - x)] = in[y * width + x];
}
