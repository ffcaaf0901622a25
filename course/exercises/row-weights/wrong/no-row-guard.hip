// expected cause: too-many-rows
__global__ void weigh(int rows, int columns, const float* weight, const float* in, float* out)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    row = __builtin_amdgcn_readfirstlane(row);
    float w = weight[row];
    for (int column = threadIdx.x % warpSize; column < columns; column += warpSize) {
        out[row * columns + column] = w * in[row * columns + column];
    }
}
