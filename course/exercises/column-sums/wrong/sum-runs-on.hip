// expected cause: sum-not-reset
__global__ void column_sums(int rows, int n, const float* m, float* sums)
{
    float sum = 0;
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += gridDim.x * blockDim.x) {
        for (int r = 0; r < rows; r++) sum += m[r * n + c];
        sums[c] = sum;
    }
}
