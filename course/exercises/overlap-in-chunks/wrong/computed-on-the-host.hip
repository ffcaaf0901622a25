// expected cause: not-copied
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
    
    unsigned a = 1, c = 0;
    for (int r = 0; r < rounds; ++r) { a *= 1664525u; c = c * 1664525u + 1013904223u; }
    std::vector<unsigned> host(n);
    for (int i = 0; i < n; ++i) host[i] = a * i + c;
    print_sum(n, host.data());

    return 0;
}