// expected cause: memory-lines
__global__ void transpose(int n, int m, const float* in, float* out)
{
    __shared__ float tile[16][17];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int k = 0; k < 16; k++) {
        int column = blockIdx.x * 64 + k % 4 * 16, row = blockIdx.y * 64 + k / 4 * 16;
        if (row + y < n && column + x < m) tile[y][x] = in[(row + y) * m + column + x];
        __syncthreads();
        if (column + y < m && row + x < n) out[(column + y) * n + row + x] = tile[x][y];
        __syncthreads();
    }
}
