__global__ void __launch_bounds__(256) multiply(int m, int n, int k, const float* a, const float* b, float* c)
{
    __shared__ float A[64][16], B[16][64];
    int t = threadIdx.x, x = t % 64, y = t / 64, left = blockIdx.x * 64, top = blockIdx.y * 64;
    float sum[16] = {};
    for (int step = 0; step < k; step += 16) {
        for (int i = t; i < 64 * 16; i += 256) {
            A[i / 16][i % 16] = a[(top + i / 16) * k + step + i % 16];
            B[i / 64][i % 64] = b[(step + i / 64) * n + left + i % 64];
        }
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            float v = B[i][x];
            for (int j = 0; j < 16; j++) sum[j] += A[16 * y + j][i] * v;
        }
        __syncthreads();
    }
    for (int j = 0; j < 16; j++) c[(top + 16 * y + j) * n + left + x] = sum[j];
}
