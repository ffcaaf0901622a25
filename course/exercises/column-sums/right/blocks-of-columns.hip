// Each block has a run of columns for itself; within it, neighbouring threads have neighbouring columns.
__global__ void column_sums(int rows, int n, const float* m, float* sums)
{
    int first = blockIdx.x * 4 * blockDim.x;
    for (int k = 0; k < 4; k++) {
        int column = first + k * blockDim.x + threadIdx.x;
        if (column >= n) return;
        const float* element = m + column;
        float sum = 0;
        for (int r = rows; r > 0; r--, element += n) sum += *element;
        sums[column] = sum;
    }
}
