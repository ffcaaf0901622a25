// expected cause: cuda-names
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>

#define CALL(name, ...)                              \
    do {                                             \
        hipError_t error = hip##name(__VA_ARGS__);   \
        if (error != hipSuccess) {                   \
            printf("hip" #name " failed\n");         \
            exit(3);                                 \
        }                                            \
    } while (0)

#define cudaError_t hipError_t
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice

__constant__ int weights[3];

__global__ void weigh(int n, const int* in, int* out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = i > 0 ? in[i - 1] : 0;
    int right = i < n - 1 ? in[i + 1] : 0;
    out[i] = weights[0] * left + weights[1] * in[i] + weights[2] * right;
}

int main(int argc, char** argv)
{
    int n = atoi(argv[1]), block = atoi(argv[2]);
    int* host = (int*)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) host[i] = i % 10 + 1;
    int three[3] = {1, 20, 300};
    CALL(MemcpyToSymbol, HIP_SYMBOL(weights), three, sizeof(three));

    int *in, *out;
    CALL(Malloc, &in, n * sizeof(int));
    CALL(Malloc, &out, n * sizeof(int));
    CALL(Memcpy, in, host, n * sizeof(int), cudaMemcpyHostToDevice);
    weigh<<<(n + block - 1) / block, block>>>(n, in, out);
    CALL(GetLastError);
    CALL(Memcpy, host, out, n * sizeof(int), hipMemcpyDeviceToHost);

    long long sum = 0;
    for (int i = 0; i < n; i++) sum += host[i];
    printf("first %d, last %d, sum %lld\n", host[0], host[n - 1], sum);
    CALL(Free, in);
    CALL(Free, out);
    free(host);
    return 0;
}
