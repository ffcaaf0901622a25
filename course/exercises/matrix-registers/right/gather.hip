__global__ void unpack(int tiles, const float* held, float* d)
{
    int tile = blockIdx.x, row = threadIdx.x / 16, column = threadIdx.x % 16;
    if (tile >= tiles) return;
    int lane, reg, registers = 256 / warpSize;
    if (warpSize == 64) {
        lane = column + 16 * (row / 4);
        reg = row % 4;
    } else {
        lane = column + 16 * (row % 2);
        reg = row / 2;
    }
    d[tile * 256 + threadIdx.x] = held[tile * 256 + lane * registers + reg];
}
