__global__ void columns(int width, int height, const float* in, float* out)
{
    int x = blockIdx.x * 64 + threadIdx.x, top = blockIdx.y * 32;
    if (x >= width) return;
    float ring[9], sum = 0;
    for (int k = 0; k < 8; k++) sum += ring[(top + k) % 9] = in[(top + k) * width + x];
    for (int y = top; y < top + 32 && y + 8 < height; y++) {
        sum += ring[(y + 8) % 9] = in[(y + 8) * width + x];
        out[y * width + x] = sum;
        sum -= ring[y % 9];
    }
}
