// expected cause: no-matrix-instructions
__global__ void product(int m, int n, int k, const _Float16* a, const _Float16* b, float* d)
{
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        int row = 16 * blockIdx.y + i / 16, column = 16 * blockIdx.x + i % 16;
        float sum = 0;
        for (int q = 0; q < k; q++) sum += (float)a[row * k + q] * (float)b[q * n + column];
        d[row * n + column] = sum;
    }
}
