// expected cause: pageable
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

__global__ void scramble(int n, int rounds, unsigned* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned value = x[i];
        for (int r = 0; r < rounds; ++r) value = value * 1664525u + 1013904223u;
        x[i] = value;
    }
}

void print_sum(int n, const unsigned* x)
{
    unsigned long long sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1ull) * x[i];
    printf("sum %llu\n", sum);
}

int main(int count, char** words)
{
    int n = count > 1 ? atoi(words[1]) : 1000003;
    const int rounds = 600;
    const int chunks = 4;
    unsigned *host, *device;
    host = (unsigned*)malloc(n * sizeof(unsigned));
    for (int i = 0; i < n; ++i) host[i] = i;
    CHECK(hipMalloc(&device, n * sizeof(unsigned)));
    hipStream_t streams[chunks];
    for (int c = 0; c < chunks; ++c) CHECK(hipStreamCreate(&streams[c]));

    for (int c = 0; c < chunks; ++c) {
        int begin = (long long)n * c / chunks, size = (long long)n * (c + 1) / chunks - begin;
        size_t bytes = size * sizeof(unsigned);
        CHECK(hipMemcpyAsync(device + begin, host + begin, bytes, hipMemcpyHostToDevice, streams[c]));
        scramble<<<(size + 255) / 256, 256, 0, streams[c]>>>(size, rounds, device + begin);
        CHECK(hipGetLastError());
        CHECK(hipMemcpyAsync(host + begin, device + begin, bytes, hipMemcpyDeviceToHost, streams[c]));
    }
    CHECK(hipDeviceSynchronize());

    print_sum(n, host);
    for (int c = 0; c < chunks; ++c) CHECK(hipStreamDestroy(streams[c]));
    CHECK(hipFree(device));
    free(host);
    return 0;
}
