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
    // One stream for each direction of the link and one for the kernels; events hand the chunks on. The host's
    // memory is pinned where it is.
    std::vector<unsigned> host(n);
    for (int i = 0; i < n; ++i) host[i] = i;
    CHECK(hipHostRegister(host.data(), n * sizeof(unsigned), hipHostRegisterDefault));
    unsigned* device;
    CHECK(hipMalloc(&device, n * sizeof(unsigned)));
    hipStream_t in, work, out;
    for (hipStream_t* stream : {&in, &work, &out}) CHECK(hipStreamCreate(stream));

    const int size = (n + 5) / 6;
    std::vector<hipEvent_t> events;
    for (int begin = 0; begin < n; begin += size) {
        int here = n - begin < size ? n - begin : size;
        hipEvent_t arrived, done;
        CHECK(hipEventCreate(&arrived));
        CHECK(hipEventCreate(&done));
        events.push_back(arrived);
        events.push_back(done);
        CHECK(hipMemcpyAsync(device + begin, &host[begin], here * sizeof(unsigned), hipMemcpyHostToDevice, in));
        CHECK(hipEventRecord(arrived, in));
        CHECK(hipStreamWaitEvent(work, arrived, 0));
        scramble<<<(here + 255) / 256, 256, 0, work>>>(here, rounds, device + begin);
        CHECK(hipEventRecord(done, work));
        CHECK(hipStreamWaitEvent(out, done, 0));
        CHECK(hipMemcpyAsync(&host[begin], device + begin, here * sizeof(unsigned), hipMemcpyDeviceToHost, out));
    }
    CHECK(hipStreamSynchronize(out));

    print_sum(n, host.data());
    for (hipEvent_t event : events) CHECK(hipEventDestroy(event));
    for (hipStream_t stream : {in, work, out}) CHECK(hipStreamDestroy(stream));
    CHECK(hipHostUnregister(host.data()));
    CHECK(hipFree(device));
    return 0;
}
