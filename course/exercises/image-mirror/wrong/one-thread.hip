// expected cause: work-not-shared
__global__ void mirror(int width, int height, const int* in, int* out)
{
    if (blockIdx.x + blockIdx.y + threadIdx.x + threadIdx.y > 0) return;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) out[y * width + x] = in[y * width + width - 1 - x];
}
