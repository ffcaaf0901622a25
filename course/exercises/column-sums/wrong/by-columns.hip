// expected cause: column-by-column
__global__ void column_sums(int rows, int n, const float* m, float* sums)
{
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int r = 0; r < rows; r++) sum += m[c * rows + r];
        sums[c] = sum;
    }
}
