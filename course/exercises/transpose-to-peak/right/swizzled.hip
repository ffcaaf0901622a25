// Four tiles of 32 x 32 without padding: column x of row y is at place x ^ y. Whole tiles have no conditions.
__global__ void transpose(int n, int m, const float* in, float* out)
{
    __shared__ float tile[4][32 * 32];
    int x = threadIdx.x & 31, first = threadIdx.x >> 5;
    int column = blockIdx.x * 64, row = blockIdx.y * 64;
    bool whole = column + 64 <= m && row + 64 <= n;
    float value[16];
    #pragma unroll
    for (int k = 0; k < 16; k++) {
        int r = row + k / 8 * 32 + k % 4 * 8 + first, c = column + (k / 4 & 1) * 32 + x;
        value[k] = 0;
        if (whole || (r < n && c < m)) value[k] = in[r * m + c];
    }
    #pragma unroll
    for (int k = 0; k < 16; k++) {
        int y = k % 4 * 8 + first;
        tile[k / 4][y * 32 + (x ^ y)] = value[k];
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 16; k++) {
        int y = k % 4 * 8 + first;
        int r = column + (k / 4 & 1) * 32 + y, c = row + k / 8 * 32 + x;
        if (whole || (r < m && c < n)) out[r * n + c] = tile[k / 4][x * 32 + (y ^ x)];
    }
}
