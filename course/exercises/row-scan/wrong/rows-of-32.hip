// expected cause: bank-conflicts
__global__ void row_scan(int n, const float* in, float* out)
{
    __shared__ float tile[64][32];
    int first = blockIdx.x * 64;
    int count = min(64, n - first) * 32;
    for (int k = threadIdx.x; k < count; k += 64) tile[k / 32][k % 32] = in[first * 32 + k];
    __syncthreads();
    if (first + (int)threadIdx.x < n) {
        float sum = 0;
        for (int c = 0; c < 32; c++) {
            sum += tile[threadIdx.x][c];
            tile[threadIdx.x][c] = sum;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += 64) out[first * 32 + k] = tile[k / 32][k % 32];
}
