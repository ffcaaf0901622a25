__global__ void columns(int width, int height, const float* in, float* out)
{
    // Each thread has a column of LDS to itself, so no barrier is needed.
    __shared__ float ring[9][64];
    int lane = threadIdx.x, x = blockIdx.x * 64 + lane, top = blockIdx.y * 32;
    if (x >= width) return;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += ring[k][lane] = in[(top + k) * width + x];
    int oldest = 0;
    for (int y = top; y < min(top + 32, height - 8); y++) {
        float newest = in[(y + 8) * width + x];
        int place = oldest == 0 ? 8 : oldest - 1;
        sum += newest;
        out[y * width + x] = sum;
        sum -= ring[oldest][lane];
        ring[place][lane] = newest;
        oldest = oldest == 8 ? 0 : oldest + 1;
    }
}
