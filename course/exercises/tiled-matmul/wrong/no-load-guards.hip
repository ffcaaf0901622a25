// expected cause: reads-outside
__global__ void multiply(int m, int n, int k, const float* a, const float* b, float* c)
{
    __shared__ float A[16][16], B[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int step = 0; step < k; step += 16) {
        A[y][x] = a[row * k + step + x];
        B[y][x] = b[(step + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += A[y][i] * B[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
