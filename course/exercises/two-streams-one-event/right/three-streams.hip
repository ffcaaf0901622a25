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

    // Streams without the default stream's barriers, one for each branch, and one that collects.
    hipStream_t streams[3];
    hipEvent_t made, leftwards, rightwards;
    for (hipStream_t& stream : streams) CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (hipEvent_t* event : {&made, &leftwards, &rightwards}) CHECK(hipEventCreateWithFlags(event, hipEventDisableTiming));
    make<<<blocks, 256, 0, streams[2]>>>(n, a);
    CHECK(hipEventRecord(made, streams[2]));
    CHECK(hipStreamWaitEvent(streams[0], made, 0));
    CHECK(hipStreamWaitEvent(streams[1], made, 0));
    right<<<blocks, 256, 0, streams[1]>>>(n, a, c);
    left<<<blocks, 256, 0, streams[0]>>>(n, a, b);
    CHECK(hipEventRecord(leftwards, streams[0]));
    CHECK(hipEventRecord(rightwards, streams[1]));
    CHECK(hipStreamWaitEvent(streams[2], leftwards, 0));
    CHECK(hipStreamWaitEvent(streams[2], rightwards, 0));
    join<<<blocks, 256, 0, streams[2]>>>(n, b, c, d);
    CHECK(hipGetLastError());
    CHECK(hipStreamSynchronize(streams[2]));
    for (hipStream_t stream : streams) CHECK(hipStreamDestroy(stream));
    for (hipEvent_t event : {made, leftwards, rightwards}) CHECK(hipEventDestroy(event));

    std::vector<int> result(n);
    CHECK(hipMemcpy(result.data(), d, bytes, hipMemcpyDeviceToHost));
    unsigned long long sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1ull) * (unsigned)result[i];
    printf("sum %llu\n", sum);
    for (int* pointer : {a, b, c, d}) CHECK(hipFree(pointer));
    return 0;
}
