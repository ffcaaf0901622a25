#include <hip/hip_runtime.h>
#include <algorithm>
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
    // Two events for each run, in a stream of its own; the median of the runs.
    hipStream_t stream;
    CHECK(hipStreamCreate(&stream));
    std::vector<hipEvent_t> begin(25), end(25);
    for (int run = -10; run < 25; ++run) {
        if (run >= 0) CHECK(hipEventCreate(&begin[run]));
        if (run >= 0) CHECK(hipEventRecord(begin[run], stream));
        copy<<<(n + 255) / 256, 256, 0, stream>>>(n, in, out);
        CHECK(hipGetLastError());
        if (run >= 0) CHECK(hipEventCreate(&end[run]));
        if (run >= 0) CHECK(hipEventRecord(end[run], stream));
    }
    CHECK(hipStreamSynchronize(stream));
    std::vector<float> ms(25);
    for (int run = 0; run < 25; ++run) CHECK(hipEventElapsedTime(&ms[run], begin[run], end[run]));
    std::sort(ms.begin(), ms.end());
    rate = 8.0 * n / ms[12] / 1e6;
    print_sum(n, out);
    printf("rate %.1f GB/s\n", rate);
    CHECK(hipFree(in));
    CHECK(hipFree(out));
    return 0;
}
