// expected cause: data-race
__global__ void multiply(int m, int n, int k, const float* a, const float* b, float* c)
{
    __shared__ float A[16][16], B[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int step = 0; step < k; step += 16) {
        A[y][x] = row < m && step + x < k ? a[row * k + step + x] : 0;
        B[y][x] = step + y < k && column < n ? b[(step + y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += A[y][i] * B[i][x];
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
