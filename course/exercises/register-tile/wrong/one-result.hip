// expected cause: lds-per-multiply-add
__global__ void __launch_bounds__(256) multiply(int m, int n, int k, const float* a, const float* b, float* c)
{
    __shared__ float A[16][16], B[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int part = 0; part < 16; part++) {                    // one 16 x 16 tile after the other
        int row = blockIdx.y * 64 + part / 4 * 16 + y, column = blockIdx.x * 64 + part % 4 * 16 + x;
        float sum = 0;
        for (int step = 0; step < k; step += 16) {
            A[y][x] = a[row * k + step + x];
            B[y][x] = b[(step + y) * n + column];
            __syncthreads();
            for (int i = 0; i < 16; i++) sum += A[y][i] * B[i][x];
            __syncthreads();
        }
        c[row * n + column] = sum;
    }
}
