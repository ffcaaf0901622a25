// expected cause: not-begun
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

// nothing yet

int main(int argc, char** argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 3, columns = argc > 2 ? atoi(argv[2]) : 100;
    int* host = (int*)malloc(rows * columns * sizeof(int));
    for (int i = 0; i < rows * columns; i++) host[i] = i % 11;
    int *in, *sums;
    CHECK(hipMalloc(&in, rows * columns * sizeof(int)));
    CHECK(hipMalloc(&sums, rows * sizeof(int)));
    CHECK(hipMemcpy(in, host, rows * columns * sizeof(int), hipMemcpyHostToDevice));

// nothing yet

    CHECK(hipMemcpy(host, sums, rows * sizeof(int), hipMemcpyDeviceToHost));
    for (int r = 0; r < rows; r++) printf("%d\n", host[r]);
    return 0;
}
