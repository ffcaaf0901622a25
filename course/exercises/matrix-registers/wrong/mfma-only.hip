// expected cause: layout-of-the-other-gpu
__global__ void unpack(int tiles, const float* held, float* d)
{
    int tile = blockIdx.x, row = threadIdx.x / 16, column = threadIdx.x % 16;
    if (tile >= tiles) return;
    int lane = column + 16 * (row / 4), reg = row % 4;
    d[tile * 256 + threadIdx.x] = held[tile * 256 + lane * 4 + reg];
}
