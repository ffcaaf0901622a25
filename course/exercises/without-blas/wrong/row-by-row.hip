// expected cause: row-by-row
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

__global__ void gemv(int rows, int columns, float alpha, const float* a, int lda, const float* x, float beta, float* y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < columns; c++) sum += a[r * columns + c] * x[c];
    y[r] = alpha * sum + beta * y[r];
}

__global__ void gemv_transposed(int rows, int columns, float alpha, const float* a, int lda, const float* x, float beta,
                                float* z)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    float sum = 0;
    for (int r = 0; r < rows; r++) sum += a[r * columns + c] * x[r];
    z[c] = alpha * sum + beta * z[c];
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

    gemv<<<(rows + 255) / 256, 256>>>(rows, columns, 2, a, lda, x, 3, y);             // y = 2 A x + 3 y
    CHECK(hipGetLastError());
    gemv_transposed<<<(columns + 255) / 256, 256>>>(rows, columns, 1, a, lda, y, -1, z);   // z = transposed A y - z
    CHECK(hipGetLastError());

    print("y", rows, y, host);
    print("z", columns, z, host);
    return 0;
}
