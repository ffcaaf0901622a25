#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>

#define CHECK(call)                                                          \
    do {                                                                     \
        hipError_t error = (call);                                           \
        if (error != hipSuccess) {                                           \
            printf("line %d: %s\n", __LINE__, hipGetErrorString(error));     \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

// One block for each element of the result; its threads share the sum.
__global__ void product(int terms, int next_term, int next_result, float alpha, const float* a, const float* x, float beta, float* y)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    const float* first = a + blockIdx.x * next_result;
    float sum = 0;
    for (int k = t; k < terms; k += 64) sum += first[k * next_term] * x[k];
    s[t] = sum;
    for (int step = 32; step > 0; step /= 2) {
        __syncthreads();
        if (t < step) s[t] += s[t + step];
    }
    if (t == 0) y[blockIdx.x] = alpha * s[0] + beta * y[blockIdx.x];
}

float* on_device(int n, const float* host)
{
    float* device;
    CHECK(hipMalloc(&device, n * sizeof(float)));
    CHECK(hipMemcpy(device, host, n * sizeof(float), hipMemcpyHostToDevice));
    return device;
}

void print(const char* name, int n, const float* device, float* host)
{
    CHECK(hipMemcpy(host, device, n * sizeof(float), hipMemcpyDeviceToHost));
    printf("%s", name);
    for (int i = 0; i < n; i++) printf(" %g", host[i]);
    printf("\n");
}

int main(int argc, char** argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 4, columns = argc > 2 ? atoi(argv[2]) : 3;
    int lda = rows + 2;                                  // two unused elements after each column
    float* host = (float*)malloc((columns + 1) * lda * sizeof(float));
    for (int i = 0; i < columns * lda; i++) host[i] = i % 7;
    float* a = on_device(columns * lda, host);
    for (int c = 0; c < columns; c++) host[c] = c % 5 + 1;
    float* x = on_device(columns, host);
    for (int r = 0; r < rows; r++) host[r] = 100;
    float* y = on_device(rows, host);
    for (int c = 0; c < columns; c++) host[c] = 1000;
    float* z = on_device(columns, host);

    product<<<rows, 64>>>(columns, lda, 1, 2, a, x, 3, y);
    CHECK(hipGetLastError());
    product<<<columns, 64>>>(rows, 1, lda, 1, a, y, -1, z);
    CHECK(hipGetLastError());

    print("y", rows, y, host);
    print("z", columns, z, host);
    return 0;
}
