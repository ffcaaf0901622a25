#include <hip/hip_runtime.h>
#include <chrono>
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

__global__ void copy(int n, const float* in, float* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

void print_sum(int n, const float* out)
{
    std::vector<float> host(n);
    CHECK(hipMemcpy(host.data(), out, n * sizeof(float), hipMemcpyDeviceToHost));
    unsigned long long sum = 0;
    for (int i = 0; i < n; ++i) sum += (unsigned long long)(i % 7 + 1) * (int)host[i];
    printf("sum %llu\n", sum);
}

int main(int count, char** words)
{
    int n = count > 1 ? atoi(words[1]) : 100003;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = i % 1000 + 1;        // no zeros
    float *in, *out;
    CHECK(hipMalloc(&in, n * sizeof(float)));
    CHECK(hipMalloc(&out, n * sizeof(float)));
    CHECK(hipMemcpy(in, host.data(), n * sizeof(float), hipMemcpyHostToDevice));
    double rate = 0;
    const int warm_up = 5, runs = 50;
    hipEvent_t begin, end;
    CHECK(hipEventCreate(&begin));
    CHECK(hipEventCreate(&end));
    for (int run = 0; run < warm_up; ++run) copy<<<(n + 255) / 256, 256>>>(n, in, out);
    CHECK(hipEventRecord(begin));
    for (int run = 0; run < runs; ++run) copy<<<(n + 255) / 256, 256>>>(n, in, out);
    CHECK(hipEventRecord(end));
    CHECK(hipGetLastError());
    CHECK(hipEventSynchronize(end));
    float ms;
    CHECK(hipEventElapsedTime(&ms, begin, end));
    rate = 2.0 * n * sizeof(float) * runs / (ms * 1e-3) / 1e9;
    CHECK(hipEventDestroy(begin));
    CHECK(hipEventDestroy(end));
    print_sum(n, out);
    printf("rate %.1f GB/s\n", rate);
    CHECK(hipFree(in));
    CHECK(hipFree(out));
    return 0;
}
