// expected cause: window-does-not-slide
__global__ void columns(int width, int height, const float* in, float* out)
{
    int x = blockIdx.x * 64 + threadIdx.x, top = blockIdx.y * 32;
    if (x >= width) return;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += in[(top + k) * width + x];
    for (int y = top; y < top + 32 && y + 8 < height; y++) {
        sum += in[(y + 8) * width + x];          // nothing ever leaves
        out[y * width + x] = sum;
    }
}
