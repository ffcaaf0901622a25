// Tiles of 16 x 16 in LDS, filled up with zeros.
__global__ void partial(int m, int n, int k, int splits, const float* a, const float* b, float* parts)
{
    __shared__ float A[16][17], B[16][17];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    int depth = k / splits + (k % splits != 0), last = min((int)(blockIdx.z + 1) * depth, k);
    float sum = 0;
    for (int step = blockIdx.z * depth; step < last; step += 16) {
        A[y][x] = row < m && step + x < last ? a[row * k + step + x] : 0;
        B[y][x] = column < n && step + y < last ? b[(step + y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += A[y][i] * B[i][x];
        __syncthreads();
    }
    if (row < m && column < n) parts[(blockIdx.z * m + row) * n + column] = sum;
}

__global__ void add_parts(int count, int splits, const float* parts, float* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float sum = parts[i];
        for (const float* part = parts + count; part < parts + splits * count; part += count) sum += part[i];
        c[i] = sum;
    }
}
