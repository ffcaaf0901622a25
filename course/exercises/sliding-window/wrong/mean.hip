// expected cause: mean-not-sum
__global__ void columns(int width, int height, const float* in, float* out)
{
    int x = blockIdx.x * 64 + threadIdx.x, top = blockIdx.y * 32;
    if (x >= width) return;
    float window[9];
#pragma unroll
    for (int k = 0; k < 8; k++) window[k] = in[(top + k) * width + x];
    for (int y = top; y < top + 32 && y + 8 < height; y++) {
        window[8] = in[(y + 8) * width + x];
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 9; k++) sum += window[k];
        out[y * width + x] = sum / 9;
#pragma unroll
        for (int k = 0; k < 8; k++) window[k] = window[k + 1];
    }
}
