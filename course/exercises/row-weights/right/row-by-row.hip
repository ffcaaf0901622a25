__global__ void weigh(int rows, int columns, const float* __restrict__ weight, const float* __restrict__ in,
                      float* __restrict__ out)
{
    int waves = blockDim.x / warpSize;
    int wave = threadIdx.x / warpSize;
    int lane = threadIdx.x % warpSize;
    for (int k = 0; k < waves; k++) {
        int row = blockIdx.x * waves + k;
        if (row >= rows) break;
        float w = weight[row];
        if (wave == k) {
            for (int column = lane; column < columns; column += warpSize) {
                int place = row * columns + column;
                out[place] = in[place] * w;
            }
        }
    }
}
