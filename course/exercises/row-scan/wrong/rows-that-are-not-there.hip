// expected cause: row-not-there
__global__ void row_scan(int n, const float* in, float* out)
{
    __shared__ float tile[64][33];
    int t = threadIdx.x, first = blockIdx.x * 64 * 32;
    for (int k = t; k < 64 * 32; k += 64)
        if (first + k < n * 32) tile[k / 32][k % 32] = in[first + k];
    __syncthreads();
    float sum = 0;
    for (int c = 0; c < 32; c++) {
        sum += tile[t][c];
        tile[t][c] = sum;
    }
    __syncthreads();
    for (int k = t; k < 64 * 32; k += 64)
        if (first + k < n * 32) out[first + k] = tile[k / 32][k % 32];
}
