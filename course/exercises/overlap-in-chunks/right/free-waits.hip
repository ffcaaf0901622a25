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

    size_t bytes = n * sizeof(unsigned);
    const int chunks = 4;
    int size = (n + chunks - 1) / chunks;
    unsigned *host, *device;
    CHECK(hipHostMalloc(&host, bytes));
    CHECK(hipMalloc(&device, bytes));
    for (int i = 0; i < n; ++i) host[i] = i;
    hipStream_t streams[chunks];
    for (int c = 0; c < chunks; ++c) CHECK(hipStreamCreate(&streams[c]));
    for (int c = 0; c < chunks; ++c) {
        int first = c * size, here = n - first < size ? n - first : size;
        if (here <= 0) break;
        CHECK(hipMemcpyAsync(device + first, host + first, here * sizeof(unsigned), hipMemcpyHostToDevice, streams[c]));
        scramble<<<(here + 255) / 256, 256, 0, streams[c]>>>(here, rounds, device + first);
        CHECK(hipGetLastError());
        CHECK(hipMemcpyAsync(host + first, device + first, here * sizeof(unsigned), hipMemcpyDeviceToHost, streams[c]));
    }
    CHECK(hipFree(device));
    print_sum(n, host);

    return 0;
}
