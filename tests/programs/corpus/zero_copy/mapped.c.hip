/* Host memory mapped into the device, registered memory, constant memory; dot product of integers and a polynomial */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <hip/hip_runtime.h>

#define imin(a, b) (a < b ? a : b)
#define CHECK_RET(x) { hipError_t r = x; if (r != hipSuccess) { printf("%s returned %s\n", #x, hipGetErrorName(r)); return 1; } }

const int threadsPerBlock = 256;

typedef struct { float coefficients[8]; int degree; } polynomial_t;
__constant__ polynomial_t poly;
__constant__ int weights[4] = {1, 3, 5, 7};

__global__ void dot(int size, const int *a, const int *b, long long *c)
{
    __shared__ long long cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    long long temp = 0;
    while (tid < size) {
        temp += (long long)a[tid] * b[tid] * weights[tid & 3];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0)
        c[blockIdx.x] = cache[0];
}

__global__ void evaluate(float *x, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    float r = 0;
    for (int k = poly.degree; k >= 0; k--) r = fmaf(r, x[i], poly.coefficients[k]);
    x[i] = r;
}

int main(int argc, char *argv[])
{
    int size = argc > 1 ? atoi(argv[1]) : 33 * 1024, i, failures = 0;
    const int blocksPerGrid = imin(32, (size + threadsPerBlock - 1) / threadsPerBlock);
    hipDeviceProp_t prop;
    int whichDevice;
    CHECK_RET(hipGetDevice(&whichDevice));
    CHECK_RET(hipGetDeviceProperties(&prop, whichDevice));
    if (prop.canMapHostMemory != 1) {
        printf("Device cannot map memory.\n");
        return 0;
    }
    CHECK_RET(hipSetDeviceFlags(hipDeviceMapHost));
    int *a, *b, *dev_a, *dev_b;
    long long *partial_c, *dev_partial_c, c = 0, want = 0;
    CHECK_RET(hipHostMalloc((void **)&a, size * sizeof(int), hipHostMallocWriteCombined | hipHostMallocMapped));
    CHECK_RET(hipHostMalloc((void **)&b, size * sizeof(int), hipHostMallocWriteCombined | hipHostMallocMapped));
    CHECK_RET(hipHostMalloc((void **)&partial_c, blocksPerGrid * sizeof(long long), hipHostMallocMapped));
    for (i = 0; i < size; i++) {
        a[i] = i % 1000;
        b[i] = i * 2 - 777;
        want += (long long)a[i] * b[i] * (1 + 2 * (i & 3));
    }
    CHECK_RET(hipHostGetDevicePointer((void **)&dev_a, a, 0));
    CHECK_RET(hipHostGetDevicePointer((void **)&dev_b, b, 0));
    CHECK_RET(hipHostGetDevicePointer((void **)&dev_partial_c, partial_c, 0));
    hipLaunchKernelGGL(dot, dim3(blocksPerGrid), dim3(threadsPerBlock), 0, 0, size, dev_a, dev_b, dev_partial_c);
    CHECK_RET(hipDeviceSynchronize());
    for (i = 0; i < blocksPerGrid; i++) c += partial_c[i];
    printf("dot product: %lld, should be %lld\n", c, want);
    failures += c != want;
    CHECK_RET(hipHostFree(a));
    CHECK_RET(hipHostFree(b));
    CHECK_RET(hipHostFree(partial_c));

    /* memory from malloc, registered */
    const int n = 5000;
    float *x = (float *)malloc(n * sizeof(float)), *dev_x;
    float *original = (float *)malloc(n * sizeof(float));
    polynomial_t p = {{1, -2, 0.5f, 0.25f, -0.125f, 0, 0, 1.0f / 64}, 7};
    for (i = 0; i < n; i++) original[i] = x[i] = -2 + 4.0f * i / n;
    CHECK_RET(hipMemcpyToSymbol(poly, &p, sizeof p));
    CHECK_RET(hipHostRegister(x, n * sizeof(float), hipHostRegisterDefault));
    CHECK_RET(hipHostGetDevicePointer((void **)&dev_x, x, 0));
    hipLaunchKernelGGL(evaluate, dim3((n + 127) / 128), dim3(128), 0, 0, dev_x, n);
    CHECK_RET(hipDeviceSynchronize());
    CHECK_RET(hipHostUnregister(x));
    int wrong = 0;
    for (i = 0; i < n; i++) {
        float r = 0;
        for (int k = p.degree; k >= 0; k--) r = fmaf(r, original[i], p.coefficients[k]);
        wrong += r != x[i];
    }
    printf("polynomial: %d of %d wrong\n", wrong, n);
    failures += wrong != 0;
    free(x);
    free(original);
    printf("%s\n", failures ? "FAILED" : "PASSED");
    return failures;
}
