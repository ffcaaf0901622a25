// expected cause: too-slow
__global__ void transpose(int n, int m, const float* in, float* out)
{
    __shared__ float tile[64][65];
    int x = threadIdx.x % 64, first = threadIdx.x / 64;
    int column = blockIdx.x * 64, row = blockIdx.y * 64;          // the tile's corner in the input
    for (int y = first; y < 64; y += 4) {
        if (row + y < n && column + x < m) tile[y][x] = in[(row + y) * m + column + x];
    }
    __syncthreads();
    for (int y = first; y < 64; y += 4) {
        if (column + y < m && row + x < n) out[(column + y) * n + row + x] = tile[x][y];
    }
}
