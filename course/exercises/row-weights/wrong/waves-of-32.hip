// expected cause: waves-of-32
__global__ void weigh(int rows, int columns, const float* weight, const float* in, float* out)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    row = __builtin_amdgcn_readfirstlane(row);
    if (row >= rows) return;
    float w = weight[row];
    for (int column = threadIdx.x % 32; column < columns; column += 32) {
        out[row * columns + column] = w * in[row * columns + column];
    }
}
