// expected cause: share-of-peak
__global__ void __launch_bounds__(256) sgemm(int m, int n, int k, const float* a, const float* b, float* c)
{
    __shared__ float A[16][16], B[16][16];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int part = 0; part < 64; part++) {                    // one tile of 16 x 16 after the other
        const int row = blockIdx.y * 128 + part / 8 * 16 + y, column = blockIdx.x * 128 + part % 8 * 16 + x;
        float sum = 0;
        for (int step = 0; step < k; step += 16) {
            A[y][x] = row < m && step + x < k ? a[(size_t)row * k + step + x] : 0;
            B[y][x] = step + y < k && column < n ? b[(size_t)(step + y) * n + column] : 0;
            __syncthreads();
            for (int i = 0; i < 16; i++) sum += A[y][i] * B[i][x];
            __syncthreads();
        }
        if (row < m && column < n) c[(size_t)row * n + column] = sum;
    }
}
