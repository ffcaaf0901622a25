// expected cause: memory-lines
__global__ void columns(int width, int height, const float* in, float* out)
{
    int x = blockIdx.x * 64 + threadIdx.x;
    if (x >= width) return;
    for (int y = blockIdx.y * 32; y < blockIdx.y * 32 + 32 && y + 8 < height; y++) {
        float sum = 0;
        for (int k = 0; k <= 8; k++) sum += in[(y + k) * width + x];
        out[y * width + x] = sum;
    }
}
