// expected cause: columns-by-thread
__global__ void weigh(int rows, int columns, const float* weight, const float* in, float* out)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    row = __builtin_amdgcn_readfirstlane(row);
    if (row >= rows) return;
    float w = weight[row];
    for (int column = threadIdx.x; column < columns; column += warpSize) {
        out[row * columns + column] = w * in[row * columns + column];
    }
}
