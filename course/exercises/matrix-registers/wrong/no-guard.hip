// expected cause: missing-guard
__global__ void unpack(int tiles, const float* held, float* d)
{
    int tile = blockIdx.x, row = threadIdx.x / 16, column = threadIdx.x % 16;
    int lane = warpSize == 64 ? column + 16 * (row / 4) : column + 16 * (row % 2);
    int reg = warpSize == 64 ? row % 4 : row / 2;
    d[tile * 256 + threadIdx.x] = held[tile * 256 + lane * (256 / warpSize) + reg];
}
