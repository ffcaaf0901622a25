__global__ void multiply(int m, int n, int k, const float* a, const float* b, float* c)
{
    // Loads at clamped addresses; what is beyond k becomes zero in one of the tiles, which is enough.
    __shared__ float tiles[2][16][16];
    const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int tile = 0; tile < (k + 15) / 16; tile++) {
        if (m > 0 && n > 0) {
            float p = a[min(row, m - 1) * k + min(tile * 16 + x, k - 1)];
            float q = b[min(tile * 16 + y, k - 1) * n + min(column, n - 1)];
            tiles[0][y][x] = tile * 16 + x < k ? p : 0.0f;
            tiles[1][y][x] = q;
        }
        __syncthreads();
        if (row < m && column < n) {
#pragma unroll
            for (int i = 0; i < 16; i++) sum = fmaf(tiles[0][y][i], tiles[1][i][x], sum);
        }
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
