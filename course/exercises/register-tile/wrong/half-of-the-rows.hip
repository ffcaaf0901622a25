// expected cause: not-all-results
__global__ void __launch_bounds__(256) multiply(int m, int n, int k, const float* a, const float* b, float* c)
{
    __shared__ float A[16][64 + 2], B[16][64];
    int t = threadIdx.x, x = t % 16, y = t / 16;
    int left = blockIdx.x * 64, top = blockIdx.y * 64;
    float sum[4][4] = {};
    for (int step = 0; step < k; step += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            A[i % 16][i / 16] = a[(top + i / 16) * k + step + i % 16];
            B[i / 64][i % 64] = b[(step + i / 64) * n + left + i % 64];
        }
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            float u[4], v[4];
            for (int j = 0; j < 4; j++) u[j] = A[i][16 * j + y];
            for (int j = 0; j < 4; j++) v[j] = B[i][16 * j + x];
            for (int j = 0; j < 4; j++)
                for (int l = 0; l < 4; l++) sum[j][l] += u[j] * v[l];
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        for (int l = 0; l < 4; l++) c[(top + 16 * j + y) * n + left + 16 * l + x] = sum[j][l];
}
