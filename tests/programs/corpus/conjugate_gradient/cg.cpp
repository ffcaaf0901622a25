#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
namespace cg = cooperative_groups;
// Conjugate gradients in one cooperative kernel, for a 2D Poisson problem in CSR.

#define CHECK_HIP_ERROR(error)                    \
    if (error != hipSuccess) {                    \
      fprintf(stderr, "Hip error: '%s'(%d) at %s:%d\n", hipGetErrorString(error), error, __FILE__, __LINE__); \
      exit(EXIT_FAILURE);                         \
    }

struct Problem { int n; const int *row, *col; const double *val; double *x, *r, *p, *ap; double *dots; int max_iterations; double tolerance; int *iterations; };

__device__ double grid_dot(cg::grid_group grid, const double *a, const double *b, double *result, int n)
{
    __shared__ double part[256];
    cg::thread_block block = cg::this_thread_block();
    double s = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) s += a[i] * b[i];
    part[block.thread_rank()] = s;
    for (int w = block.size() / 2; w > 0; w /= 2) {
        block.sync();
        if ((int)block.thread_rank() < w) part[block.thread_rank()] += part[block.thread_rank() + w];
    }
    if (block.thread_rank() == 0) result[blockIdx.x] = part[0];
    grid.sync();
    double total = 0;
    for (int b2 = 0; b2 < (int)gridDim.x; b2++) total += result[b2];     // the same order in each thread
    grid.sync();
    return total;
}

__global__ void solve(Problem q)
{
    cg::grid_group grid = cg::this_grid();
    const int first = grid.thread_rank(), step = grid.size();
    for (int i = first; i < q.n; i += step) { q.p[i] = q.r[i]; q.x[i] = 0; }
    grid.sync();
    double rr = grid_dot(grid, q.r, q.r, q.dots, q.n);
    const double stop = q.tolerance * q.tolerance * rr;
    int k = 0;
    while (rr > stop && k < q.max_iterations) {
        for (int i = first; i < q.n; i += step) {
            double s = 0;
            for (int e = q.row[i]; e < q.row[i + 1]; e++) s += q.val[e] * q.p[q.col[e]];
            q.ap[i] = s;
        }
        grid.sync();
        const double alpha = rr / grid_dot(grid, q.p, q.ap, q.dots, q.n);
        for (int i = first; i < q.n; i += step) { q.x[i] += alpha * q.p[i]; q.r[i] -= alpha * q.ap[i]; }
        grid.sync();
        const double fresh = grid_dot(grid, q.r, q.r, q.dots, q.n), beta = fresh / rr;
        for (int i = first; i < q.n; i += step) q.p[i] = q.r[i] + beta * q.p[i];
        grid.sync();
        rr = fresh;
        k++;
    }
    if (first == 0) *q.iterations = k;
}

int main(int argc, char **argv)
{
    int side = argc > 1 ? atoi(argv[1]) : 24, n = side * side, device = 0, cooperative = 0, per_cu = 0;
    CHECK_HIP_ERROR(hipGetDevice(&device));
    CHECK_HIP_ERROR(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, device));
    if (!cooperative) { printf("device has no cooperative launch: PASSED (waived)\n"); return 0; }
    hipDeviceProp_t props;
    CHECK_HIP_ERROR(hipGetDeviceProperties(&props, device));
    CHECK_HIP_ERROR(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, solve, 256, 0));
    int blocks = per_cu * props.multiProcessorCount;
    if (blocks > 4) blocks = 4;
    printf("%s: %d blocks of 256\n", props.gcnArchName, blocks);

    int *row, *col, *iterations, nnz = 0;
    double *val, *x, *r, *p, *ap, *dots;
    CHECK_HIP_ERROR(hipMallocManaged(&row, (n + 1) * sizeof(int)));
    CHECK_HIP_ERROR(hipMallocManaged(&col, 5 * n * sizeof(int)));
    CHECK_HIP_ERROR(hipMallocManaged(&val, 5 * n * sizeof(double)));
    CHECK_HIP_ERROR(hipMallocManaged(&x, n * sizeof(double)));
    CHECK_HIP_ERROR(hipMallocManaged(&r, n * sizeof(double)));
    CHECK_HIP_ERROR(hipMallocManaged(&p, n * sizeof(double)));
    CHECK_HIP_ERROR(hipMallocManaged(&ap, n * sizeof(double)));
    CHECK_HIP_ERROR(hipMallocManaged(&dots, blocks * sizeof(double)));
    CHECK_HIP_ERROR(hipMallocManaged(&iterations, sizeof(int), hipMemAttachGlobal));
    double *b = new double[n];
    for (int i = 0; i < n; i++) {
        int ix = i % side, iy = i / side;
        row[i] = nnz;
        if (iy > 0) { col[nnz] = i - side; val[nnz++] = -1; }
        if (ix > 0) { col[nnz] = i - 1; val[nnz++] = -1; }
        col[nnz] = i; val[nnz++] = 4;
        if (ix < side - 1) { col[nnz] = i + 1; val[nnz++] = -1; }
        if (iy < side - 1) { col[nnz] = i + side; val[nnz++] = -1; }
        b[i] = r[i] = 1 + 0.01 * (i % 13);
    }
    row[n] = nnz;
    Problem q = {n, row, col, val, x, r, p, ap, dots, 1000, 1e-10, iterations};
    void *args[] = {&q};
    CHECK_HIP_ERROR(hipLaunchCooperativeKernel((void *)solve, dim3(blocks), dim3(256), args, 0, 0));
    CHECK_HIP_ERROR(hipDeviceSynchronize());
    double residual = 0, norm = 0, lowest = 1e30;
    for (int i = 0; i < n; i++) {
        double s = b[i];
        for (int e = row[i]; e < row[i + 1]; e++) s -= val[e] * x[col[e]];
        residual += s * s;
        norm += b[i] * b[i];
        lowest = fmin(lowest, x[i]);
    }
    residual = sqrt(residual / norm);
    printf("%d unknowns, %d iterations, relative residual %.2e\n", n, *iterations, residual);
    bool good = residual < 2e-10 && *iterations > 5 && *iterations < 1000 && lowest > 0;
    CHECK_HIP_ERROR(hipFree(row)); CHECK_HIP_ERROR(hipFree(col)); CHECK_HIP_ERROR(hipFree(val)); CHECK_HIP_ERROR(hipFree(x));
    CHECK_HIP_ERROR(hipFree(r)); CHECK_HIP_ERROR(hipFree(p)); CHECK_HIP_ERROR(hipFree(ap)); CHECK_HIP_ERROR(hipFree(dots));
    CHECK_HIP_ERROR(hipFree(iterations));
    delete[] b;
    std::cout << (good ? "PASSED" : "FAILED") << std::endl;
    return good ? 0 : 1;
}
