// expected cause: vector-load
__global__ void weigh(int rows, int columns, const float* weight, const float* in, float* out)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    if (row >= rows) return;
    int lane = threadIdx.x % warpSize;
    float w = 0.0f;
    if (lane == 0) w = weight[row];
    w = __shfl(w, 0);
    for (int column = lane; column < columns; column += warpSize) {
        out[row * columns + column] = w * in[row * columns + column];
    }
}
