// expected cause: vector-load
__global__ void weigh(int rows, int columns, const float* weight, const float* in, float* out)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    if (row >= rows) return;
    for (int column = threadIdx.x % warpSize; column < columns; column += warpSize) {
        out[row * columns + column] = weight[row] * in[row * columns + column];
    }
}
