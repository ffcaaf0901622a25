/*
   Householder QR of a tall matrix (LAPACK's storage: R above, reflectors below), least squares fit of a polynomial
*/
#include "hip/hip_runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

#define HIPCHECK(error) if ((error) != hipSuccess) { printf("error: '%s'(%d) at %s:%d\n", hipGetErrorString(error), error, __FILE__, __LINE__); exit(1); }

__device__ double block_sum(double v, double *shared)
{
    int t = threadIdx.x;
    shared[t] = v;
    __syncthreads();
    for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (t < s) shared[t] += shared[t + s];
        __syncthreads();
    }
    double r = shared[0];
    __syncthreads();
    return r;
}

/* column-major A, m x n; makes the reflector of column k */
__global__ void reflector(double *A, double *tau, int m, int k)
{
    HIP_DYNAMIC_SHARED(double, sh)
    double *c = A + (size_t)k * m;
    double s = 0;
    for (int i = k + 1 + threadIdx.x; i < m; i += blockDim.x) s += c[i] * c[i];
    s = block_sum(s, sh);
    double alpha = c[k];
    __syncthreads();
    if (s == 0) { if (threadIdx.x == 0) tau[k] = 0; return; }
    double beta = -copysign(sqrt(alpha * alpha + s), alpha);
    for (int i = k + 1 + threadIdx.x; i < m; i += blockDim.x) c[i] /= (alpha - beta);
    if (threadIdx.x == 0) { tau[k] = (beta - alpha) / beta; c[k] = beta; }
}

/* applies it to a column of each block's own: columns first, first + 1, ... of B */
__global__ void apply_reflector(const double *A, const double *tau, double *B, int m, int k, int first)
{
    HIP_DYNAMIC_SHARED(double, sh)
    const double *v = A + (size_t)k * m;
    double *c = B + (size_t)(first + blockIdx.x) * m;
    double s = threadIdx.x == 0 ? c[k] : 0;
    for (int i = k + 1 + threadIdx.x; i < m; i += blockDim.x) s += v[i] * c[i];
    s = block_sum(s, sh) * tau[k];
    for (int i = k + 1 + threadIdx.x; i < m; i += blockDim.x) c[i] -= s * v[i];
    if (threadIdx.x == 0) c[k] -= s;
}

int main(int argc, char *argv[])
{
    int m = 200, n = 8, i, j, k;
    if (argc > 1) m = atoi(argv[1]);
    if (argc > 2) n = atoi(argv[2]);
    size_t bytes = (size_t)m * n * sizeof(double);
    double *A = (double *)malloc(bytes), *QR = (double *)malloc(bytes), *b = (double *)malloc(m * sizeof(double)), *qtb = (double *)malloc(m * sizeof(double));
    double *want = (double *)malloc(n * sizeof(double)), *x = (double *)malloc(n * sizeof(double));
    for (j = 0; j < n; j++) want[j] = (j % 2 ? -1 : 1) * (1.0 + 0.5 * j);
    for (i = 0; i < m; i++) {
        double t = 2.0 * i / (m - 1) - 1, p = 1;
        b[i] = 0;
        for (j = 0; j < n; j++, p *= t) { A[i + (size_t)j * m] = p; b[i] += want[j] * p; }
    }
    double *dA, *db, *dtau;
    HIPCHECK(hipMalloc((void **)&dA, bytes));
    HIPCHECK(hipMalloc((void **)&db, m * sizeof(double)));
    HIPCHECK(hipMalloc((void **)&dtau, n * sizeof(double)));
    HIPCHECK(hipMemcpy(dA, A, bytes, hipMemcpyHostToDevice));
    HIPCHECK(hipMemcpy(db, b, m * sizeof(double), hipMemcpyHostToDevice));
    const unsigned threads = 128, lds = threads * sizeof(double);
    for (k = 0; k < n; k++) {
        hipLaunchKernelGGL(reflector, dim3(1), dim3(threads), lds, 0, dA, dtau, m, k);
        if (k + 1 < n) hipLaunchKernelGGL(apply_reflector, dim3(n - k - 1), dim3(threads), lds, 0, dA, dtau, dA, m, k, k + 1);
        hipLaunchKernelGGL(apply_reflector, dim3(1), dim3(threads), lds, 0, dA, dtau, db, m, k, 0);
        HIPCHECK(hipGetLastError());
    }
    HIPCHECK(hipMemcpy(QR, dA, bytes, hipMemcpyDeviceToHost));
    HIPCHECK(hipMemcpy(qtb, db, m * sizeof(double), hipMemcpyDeviceToHost));
    double fit = 0, gram = 0, rest = 0;
    for (i = n - 1; i >= 0; i--) {
        x[i] = qtb[i];
        for (j = i + 1; j < n; j++) x[i] -= QR[i + (size_t)j * m] * x[j];
        x[i] /= QR[i + (size_t)i * m];
        fit = fmax(fit, fabs(x[i] - want[i]));
    }
    for (i = n; i < m; i++) rest = fmax(rest, fabs(qtb[i]));
    for (i = 0; i < n; i++)       /* R'R = A'A */
        for (j = 0; j < n; j++) {
            double s = 0, r = 0;
            for (k = 0; k < m; k++) s += A[k + (size_t)i * m] * A[k + (size_t)j * m];
            for (k = 0; k <= (i < j ? i : j); k++) r += QR[k + (size_t)i * m] * QR[k + (size_t)j * m];
            gram = fmax(gram, fabs(s - r));
        }
    printf("%d x %d: coefficients differ by %.2e, R'R - A'A by %.2e, residual %.2e\n", m, n, fit, gram, rest);
    HIPCHECK(hipFree(dA)); HIPCHECK(hipFree(db)); HIPCHECK(hipFree(dtau));
    free(A); free(QR); free(b); free(qtb); free(want); free(x);
    if (fit < 1e-11 && gram < 1e-11 && rest < 1e-11) { printf("PASSED!\n"); return 0; }
    printf("FAILED!\n");
    return 1;
}
