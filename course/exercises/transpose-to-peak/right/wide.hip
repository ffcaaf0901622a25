// Four tiles of 32 x 32, and float4 on both sides where the tile is whole. In LDS a row has eight groups of four
// floats; group g of row y is at place g ^ (y / 4).
__device__ int place(int tile, int y, int x) { return tile * 1024 + y * 32 + 4 * ((x / 4) ^ (y / 4)) + x % 4; }

__global__ void transpose(int n, int m, const float* in, float* out)
{
    __shared__ float4 groups[4 * 32 * 8];
    float* tile = reinterpret_cast<float*>(groups);
    int column = blockIdx.x * 64, row = blockIdx.y * 64;          // the tile's corner in the input
    if (n % 4 == 0 && m % 4 == 0 && row + 64 <= n && column + 64 <= m) {
        int x = threadIdx.x % 8 * 4, y = threadIdx.x / 8;         // four floats for each thread, in each of four tiles
        float4 value[4];
        #pragma unroll
        for (int k = 0; k < 4; k++)
            value[k] = *reinterpret_cast<const float4*>(in + (row + k / 2 * 32 + y) * m + column + k % 2 * 32 + x);
        #pragma unroll
        for (int k = 0; k < 4; k++) groups[place(k, y, x) / 4] = value[k];
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            float4 four = make_float4(tile[place(k, x, y)], tile[place(k, x + 1, y)], tile[place(k, x + 2, y)],
                                      tile[place(k, x + 3, y)]);
            *reinterpret_cast<float4*>(out + (column + k % 2 * 32 + y) * n + row + k / 2 * 32 + x) = four;
        }
    } else {
        int x = threadIdx.x % 32, first = threadIdx.x / 32;
        for (int k = 0; k < 16; k++) {
            int y = k % 4 * 8 + first, r = row + k / 8 * 32 + y, c = column + k / 4 % 2 * 32 + x;
            if (r < n && c < m) tile[place(k / 4, y, x)] = in[r * m + c];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            int y = k % 4 * 8 + first, r = column + k / 4 % 2 * 32 + y, c = row + k / 8 * 32 + x;
            if (r < m && c < n) out[r * n + c] = tile[place(k / 4, x, y)];
        }
    }
}
