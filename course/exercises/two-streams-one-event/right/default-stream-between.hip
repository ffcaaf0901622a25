#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                            \
    do {                                                                                       \
        hipError_t error = (call);                                                             \
        if (error != hipSuccess) {                                                             \
            fprintf(stderr, "%s in line %d: %s\n", #call, __LINE__, hipGetErrorString(error)); \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)

__device__ unsigned slow(unsigned value, int rounds)
{
    for (int r = 0; r < rounds; ++r) value = (value ^ value >> 3) * 5 + 3;
    return value;
}
__global__ void make(int n, int* a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = slow(i, 300);
}
__global__ void left(int n, const int* a, int* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = slow(a[i], 500);
}
__global__ void right(int n, const int* a, int* c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = slow(a[n - 1 - i], 800);
}
__global__ void join(int n, const int* b, const int* c, int* d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = b[i] ^ c[i];
}

int main(int count, char** words)
{
    int n = count > 1 ? atoi(words[1]) : 16384;
    int blocks = (n + 255) / 256;
    size_t bytes = n * sizeof(int);
    int *a, *b, *c, *d;
    CHECK(hipMalloc(&a, bytes));
    CHECK(hipMalloc(&b, bytes));
    CHECK(hipMalloc(&c, bytes));
    CHECK(hipMalloc(&d, bytes));


    hipStream_t one, two;
    CHECK(hipStreamCreate(&one));
    CHECK(hipStreamCreate(&two));
    make<<<blocks, 256>>>(n, a);
    left<<<blocks, 256, 0, one>>>(n, a, b);
    right<<<blocks, 256, 0, two>>>(n, a, c);
    join<<<blocks, 256>>>(n, b, c, d);


    std::vector<int> result(n);
    CHECK(hipMemcpy(result.data(), d, bytes, hipMemcpyDeviceToHost));
    unsigned long long sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1ull) * (unsigned)result[i];
    printf("sum %llu\n", sum);
    for (int* pointer : {a, b, c, d}) CHECK(hipFree(pointer));
    return 0;
}
