__global__ void spmv(int rows, const int* offsets, const int* columns, const float* values, const float* x, float* y)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int row = thread / warpSize, lane = thread % warpSize;
    if (row >= rows) return;
    float sum = 0;
    for (int k = offsets[row] + lane; k < offsets[row + 1]; k += warpSize) sum += values[k] * x[columns[k]];
    for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);
    if (lane == 0) y[row] = sum;
}
