// expected cause: no-template
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>

#define CHECK(call)                                                          \
    do {                                                                     \
        hipError_t error = (call);                                           \
        if (error != hipSuccess) {                                           \
            printf("line %d: %s\n", __LINE__, hipGetErrorString(error));     \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

const int WAVES = 4;      // of a block

__global__ void row_sums(int rows, int columns, const int* in, int* sums)
{
    const int wave = warpSize;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / wave;
    int lane = threadIdx.x % wave;
    int sum = 0;
    if (row < rows)
        for (int c = lane; c < columns; c += wave) sum += in[row * columns + c];
    for (int step = wave / 2; step > 0; step /= 2) sum += __shfl_down(sum, step);
    if (row < rows && lane == 0) sums[row] = sum;
}

int main(int argc, char** argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 3, columns = argc > 2 ? atoi(argv[2]) : 100;
    int* host = (int*)malloc(rows * columns * sizeof(int));
    for (int i = 0; i < rows * columns; i++) host[i] = i % 11;
    int *in, *sums;
    CHECK(hipMalloc(&in, rows * columns * sizeof(int)));
    CHECK(hipMalloc(&sums, rows * sizeof(int)));
    CHECK(hipMemcpy(in, host, rows * columns * sizeof(int), hipMemcpyHostToDevice));

    hipDeviceProp_t properties;
    CHECK(hipGetDeviceProperties(&properties, 0));
    int wave = properties.warpSize, blocks = (rows + WAVES - 1) / WAVES;
    if (wave == 64)
        row_sums<<<blocks, WAVES * 64>>>(rows, columns, in, sums);
    else
        row_sums<<<blocks, WAVES * 32>>>(rows, columns, in, sums);
    CHECK(hipGetLastError());

    CHECK(hipMemcpy(host, sums, rows * sizeof(int), hipMemcpyDeviceToHost));
    for (int r = 0; r < rows; r++) printf("%d\n", host[r]);
    return 0;
}
