// expected cause: share-of-peak
__global__ void __launch_bounds__(256) sgemm(int m, int n, int k, const float* a, const float* b, float* c)
{
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    for (int e = threadIdx.x; e < 128 * 128; e += 256) {
        int row = top + e / 128, column = left + e % 128;
        if (row >= m || column >= n) continue;
        float sum = 0;
        for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = sum;
    }
}
