// expected cause: memory-lines
__global__ void column_sums(int rows, int n, const float* m, float* sums)
{
    int threads = gridDim.x * blockDim.x;
    int each = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int c = first; c < first + each && c < n; c++) {
        float sum = 0;
        for (int r = 0; r < rows; r++) sum += m[r * n + c];
        sums[c] = sum;
    }
}
