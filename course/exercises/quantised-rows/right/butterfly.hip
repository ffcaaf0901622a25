#if __has_builtin(__builtin_amdgcn_sdot4)                     // CDNA
#define DOT4(a, b, sum) __builtin_amdgcn_sdot4(a, b, sum, false)
#elif __has_builtin(__builtin_amdgcn_sudot4)                  // RDNA 3 and later; true: signed
#define DOT4(a, b, sum) __builtin_amdgcn_sudot4(true, a, true, b, sum, false)
#endif

__global__ void product(int rows, int columns, const int* w, const float* scales, const int* x, float x_scale, float* y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (row < rows) {
        const int* mine = w + row * (columns / 4);
        int sum = 0, i = lane;
        while (i < columns / 4) {
            sum += DOT4(mine[i], x[i], 0);
            i += warpSize;
        }
        for (int step = 1; step < warpSize; step *= 2) sum += __shfl_xor(sum, step);
        if (lane == 0) y[row] = (float)sum * scales[row] * x_scale;
    }
}
