#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>

static void check(hipError_t error, const char* call)
{
    if (error == hipSuccess) return;
    printf("%s failed\n", call);
    exit(3);
}

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
    check(hipMemcpyToSymbol(HIP_SYMBOL(weights), three, sizeof(three)), "hipMemcpyToSymbol");

    int *in, *out;
    check(hipMalloc(&in, n * sizeof(int)), "hipMalloc");
    check(hipMalloc(&out, n * sizeof(int)), "hipMalloc");
    check(hipMemcpy(in, host, n * sizeof(int), hipMemcpyHostToDevice), "hipMemcpy");
    weigh<<<(n + block - 1) / block, block>>>(n, in, out);
    check(hipGetLastError(), "hipGetLastError");
    check(hipMemcpy(host, out, n * sizeof(int), hipMemcpyDeviceToHost), "hipMemcpy");

    long long sum = 0;
    for (int i = 0; i < n; i++) sum += host[i];
    printf("first %d, last %d, sum %lld\n", host[0], host[n - 1], sum);
    check(hipFree(in), "hipFree");
    check(hipFree(out), "hipFree");
    free(host);
    return 0;
}
