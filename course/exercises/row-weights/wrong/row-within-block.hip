// expected cause: wrong-weight
__global__ void weigh(int rows, int columns, const float* weight, const float* in, float* out)
{
    int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / warpSize);
    int row = blockIdx.x * (blockDim.x / warpSize) + wave;
    if (row >= rows) return;
    float w = weight[wave];
    for (int column = threadIdx.x % warpSize; column < columns; column += warpSize) {
        out[row * columns + column] = w * in[row * columns + column];
    }
}
