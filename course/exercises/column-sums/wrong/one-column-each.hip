// expected cause: columns-missing
__global__ void column_sums(int rows, int n, const float* m, float* sums)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < n) {
        float sum = 0;
        for (int r = 0; r < rows; r++) sum += m[r * n + c];
        sums[c] = sum;
    }
}
