/* 2D Jacobi iteration for the Laplace equation.
 * Usage: ./jacobi [n] [max_iter] [tol]
 */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <sys/time.h>
#include <hip/hip_runtime.h>

#define BX 32
#define BY 8
#define IDX(i, j) ((i) * (n) + (j))

#define HIP_CHECK(cmd)                                                                      \
    do {                                                                                    \
        hipError_t e = (cmd);                                                               \
        if (e != hipSuccess) {                                                              \
            fprintf(stderr, "HIP error '%s'(%d) at %s:%d\n", hipGetErrorString(e), e,       \
                    __FILE__, __LINE__);                                                    \
            exit(EXIT_FAILURE);                                                             \
        }                                                                                   \
    } while (0)

static double wtime(void)
{
    struct timeval tv;
    gettimeofday(&tv, NULL);
    return (double)tv.tv_sec + 1e-6 * (double)tv.tv_usec;
}

__global__ void jacobi_step(const double *__restrict__ in, double *__restrict__ out, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
        out[IDX(i, j)] = 0.25 * (in[IDX(i - 1, j)] + in[IDX(i + 1, j)] + in[IDX(i, j - 1)] + in[IDX(i, j + 1)]);
}

__global__ void max_diff(const double *a, const double *b, double *blockmax, int total)
{
    __shared__ double s[256];
    int tid = threadIdx.x;
    double m = 0.0;
    for (int k = blockIdx.x * blockDim.x + tid; k < total; k += gridDim.x * blockDim.x)
        m = fmax(m, fabs(a[k] - b[k]));
    s[tid] = m;
    __syncthreads();
    for (int w = blockDim.x / 2; w > 0; w >>= 1) {
        if (tid < w)
            s[tid] = fmax(s[tid], s[tid + w]);
        __syncthreads();
    }
    if (tid == 0)
        blockmax[blockIdx.x] = s[0];
}

static void init(double *u, int n)
{
    memset(u, 0, sizeof(double) * n * n);
    for (int j = 0; j < n; j++) {
        u[IDX(0, j)] = 1.0;                       /* hot top */
        u[IDX(n - 1, j)] = sin(M_PI * j / (n - 1)); /* bottom */
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 66;
    int max_iter = argc > 2 ? atoi(argv[2]) : 200;
    double tol = argc > 3 ? atof(argv[3]) : 1e-3;
    size_t bytes = sizeof(double) * n * n;
    if (n < 3) {
        fprintf(stderr, "n must be at least 3\n");
        return 2;
    }
    double *h = (double *)malloc(bytes), *ref = (double *)malloc(bytes), *tmp = (double *)malloc(bytes);
    init(h, n);
    init(ref, n);
    init(tmp, n);

    double *d_a, *d_b, *d_max;
    const int nblocks = 16;
    double h_max[nblocks];
    HIP_CHECK(hipMalloc((void **)&d_a, bytes));
    HIP_CHECK(hipMalloc((void **)&d_b, bytes));
    HIP_CHECK(hipMalloc((void **)&d_max, nblocks * sizeof(double)));
    HIP_CHECK(hipMemcpy(d_a, h, bytes, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(d_b, h, bytes, hipMemcpyHostToDevice));

    dim3 block(BX, BY);
    dim3 grid((n + BX - 1) / BX, (n + BY - 1) / BY);
    double diff = 1e30;
    int it = 0;
    double t0 = wtime();
    while (it < max_iter && diff > tol) {
        hipLaunchKernelGGL(jacobi_step, grid, block, 0, 0, d_a, d_b, n);
        HIP_CHECK(hipGetLastError());
        it++;
        if (it % 20 == 0) {
            hipLaunchKernelGGL(max_diff, dim3(nblocks), dim3(256), 0, 0, d_a, d_b, d_max, n * n);
            HIP_CHECK(hipMemcpy(h_max, d_max, sizeof(h_max), hipMemcpyDeviceToHost));
            diff = 0;
            for (int k = 0; k < nblocks; k++)
                diff = h_max[k] > diff ? h_max[k] : diff;
        }
        double *t = d_a; d_a = d_b; d_b = t;
    }
    HIP_CHECK(hipDeviceSynchronize());
    double t1 = wtime();
    HIP_CHECK(hipMemcpy(h, d_a, bytes, hipMemcpyDeviceToHost));

    /* the same on the host */
    double rdiff = 1e30;
    int rit = 0;
    while (rit < max_iter && rdiff > tol) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                tmp[IDX(i, j)] = 0.25 * (ref[IDX(i - 1, j)] + ref[IDX(i + 1, j)] + ref[IDX(i, j - 1)] + ref[IDX(i, j + 1)]);
        rit++;
        if (rit % 20 == 0) {
            rdiff = 0;
            for (int k = 0; k < n * n; k++)
                rdiff = fmax(rdiff, fabs(ref[k] - tmp[k]));
        }
        double *t = ref; ref = tmp; tmp = t;
    }
    int wrong = 0;
    for (int k = 0; k < n * n; k++)
        if (h[k] != ref[k]) /* sums and a power of two: no rounding may differ */
            wrong++;
    printf("n=%d iterations=%d (host %d) residual=%g (host %g) time=%.3f ms, %.2f MLUP/s\n", n, it, rit, diff, rdiff,
           1e3 * (t1 - t0), 1e-6 * it * (double)(n - 2) * (n - 2) / (t1 - t0));
    hipFree(d_a);
    hipFree(d_b);
    hipFree(d_max);
    free(h);
    free(ref);
    free(tmp);
    if (wrong || it != rit || diff != rdiff) {
        printf("FAILED: %d cells differ\n", wrong);
        return EXIT_FAILURE;
    }
    printf("PASSED\n");
    return EXIT_SUCCESS;
}
