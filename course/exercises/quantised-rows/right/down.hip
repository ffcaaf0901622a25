#if __has_builtin(__builtin_amdgcn_sdot4)                     // CDNA
#define DOT4(a, b, sum) __builtin_amdgcn_sdot4(a, b, sum, false)
#elif __has_builtin(__builtin_amdgcn_sudot4)                  // RDNA 3 and later; true: signed
#define DOT4(a, b, sum) __builtin_amdgcn_sudot4(true, a, true, b, sum, false)
#endif

__global__ void product(int rows, int columns, const int* w, const float* scales, const int* x, float x_scale, float* y)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int row = thread / warpSize, lane = thread % warpSize;
    if (row >= rows) return;
    int words = columns / 4;
    int sum = 0;
    for (int i = lane; i < words; i += warpSize) sum = DOT4(w[row * words + i], x[i], sum);
    for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);
    if (lane == 0) y[row] = sum * (scales[row] * x_scale);
}
