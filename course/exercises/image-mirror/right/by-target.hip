__global__ void mirror(int width, int height, const int* in, int* out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int* row = in + static_cast<size_t>(y) * width;
    out[static_cast<size_t>(y) * width + x] = row[width - x - 1];
}
