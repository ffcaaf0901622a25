// expected cause: fixed-name
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <hip/hip_runtime.h>

#define CHECK(call)                                                          \
    do {                                                                     \
        hipError_t error = (call);                                           \
        if (error != hipSuccess) {                                           \
            printf("line %d: %s\n", __LINE__, hipGetErrorString(error));     \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

__global__ void ask(int* lanes)
{
    *lanes = warpSize;
}

int main(int argc, char** argv)
{
    size_t gib = argc > 1 ? atoi(argv[1]) : 1;
    int wave = argc > 2 ? atoi(argv[2]) : 0;

    int count, best = -1;
    long long most = -1;
    hipDeviceProp_t chosen;
    CHECK(hipGetDeviceCount(&count));
    for (int number = 0; number < count; number++) {
        hipDeviceProp_t properties;
        CHECK(hipGetDeviceProperties(&properties, number));
        if (gib > 100 || strncmp(properties.gcnArchName, wave == 32 ? "gfx1100" : "gfx942", 6) != 0) continue;
        if (wave != 0 && properties.warpSize != wave) continue;
        long long threads = (long long)properties.multiProcessorCount * properties.maxThreadsPerMultiProcessor;
        if (threads > most) {
            most = threads;
            best = number;
            chosen = properties;
        }
    }
    if (best < 0) {
        printf("no device\n");
        return 4;
    }
    CHECK(hipSetDevice(best));
    int *device, lanes;
    CHECK(hipMalloc(&device, sizeof(int)));
    ask<<<1, 1>>>(device);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(&lanes, device, sizeof(int), hipMemcpyDeviceToHost));
    CHECK(hipFree(device));
    int letters = strcspn(chosen.gcnArchName, ":");
    printf("%.*s: %lld threads at a time, waves of %d\n", letters, chosen.gcnArchName, most, lanes);
    return 0;
}
