// expected cause: bank-conflicts
__global__ void transpose(int n, int m, const float* in, float* out)
{
    __shared__ float tile[64][64];
    int x = threadIdx.x % 64, first = threadIdx.x / 64;
    int column = blockIdx.x * 64, row = blockIdx.y * 64;          // the tile's corner in the input
    float value[16];
    #pragma unroll
    for (int k = 0; k < 16; k++) {
        int y = first + 4 * k;
        value[k] = row + y < n && column + x < m ? in[(row + y) * m + column + x] : 0.0f;
    }
    #pragma unroll
    for (int k = 0; k < 16; k++) tile[first + 4 * k][x] = value[k];
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 16; k++) {
        int y = first + 4 * k;
        if (column + y < m && row + x < n) out[(column + y) * n + row + x] = tile[x][y];
    }
}
