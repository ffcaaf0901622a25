// expected cause: one-column-each
__global__ void weigh(int rows, int columns, const float* weight, const float* in, float* out)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    row = __builtin_amdgcn_readfirstlane(row);
    int column = threadIdx.x % warpSize;
    if (row < rows && column < columns) out[row * columns + column] = weight[row] * in[row * columns + column];
}
