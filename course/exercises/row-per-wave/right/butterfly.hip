// The wave's row from the numbers of block and wave; a butterfly of shuffles, after which every lane has the sum.
__global__ void spmv(int rows, const int* offsets, const int* columns, const float* values, const float* x, float* y)
{
    int lane = threadIdx.x % warpSize, waves = blockDim.x / warpSize;
    int row = blockIdx.x * waves + threadIdx.x / warpSize;
    if (row < rows) {
        int begin = offsets[row], length = offsets[row + 1] - begin;
        const int* column = columns + begin;
        const float* value = values + begin;
        float sum = 0;
        for (int i = lane; i < length; i += warpSize) sum += value[i] * x[column[i]];
        for (int mask = 1; mask < warpSize; mask *= 2) sum += __shfl_xor(sum, mask);
        if (lane == 0) y[row] = sum;
    }
}
