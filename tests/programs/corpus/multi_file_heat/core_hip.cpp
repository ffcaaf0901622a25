/* The GPU's part */
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include "heat.h"

#define GPU_CHECK(e) do { if ((e) != hipSuccess) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(e)); abort(); } } while (0)

__global__ void evolve_kernel(double *curr, const double *prev, double a, double dt, int nx, int ny, double dx2, double dy2)
{
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i > nx || j > ny) return;
  int ind = IDX(i, j, ny), ip = IDX(i + 1, j, ny), im = IDX(i - 1, j, ny), jp = IDX(i, j + 1, ny), jm = IDX(i, j - 1, ny);
  curr[ind] = prev[ind] + a * dt * ((prev[ip] - 2.0 * prev[ind] + prev[im]) / dx2 + (prev[jp] - 2.0 * prev[ind] + prev[jm]) / dy2);
}

static size_t bytes(const field *f) { return (size_t)(f->nx + 2) * (f->ny + 2) * sizeof(double); }

extern "C" void enter_data(field *curr, field *prev)
{
  GPU_CHECK(hipMalloc(&curr->dev_data, bytes(curr)));
  GPU_CHECK(hipMalloc(&prev->dev_data, bytes(prev)));
  GPU_CHECK(hipMemcpy(curr->dev_data, curr->data, bytes(curr), hipMemcpyHostToDevice));
  GPU_CHECK(hipMemcpy(prev->dev_data, prev->data, bytes(prev), hipMemcpyHostToDevice));
}

extern "C" void exit_data(field *curr, field *prev)
{
  GPU_CHECK(hipFree(curr->dev_data));
  GPU_CHECK(hipFree(prev->dev_data));
}

extern "C" void update_host(field *f) { GPU_CHECK(hipMemcpy(f->data, f->dev_data, bytes(f), hipMemcpyDeviceToHost)); }

extern "C" void evolve_gpu(field *curr, field *prev, double a, double dt)
{
  dim3 block(16, 16), grid((curr->ny + 15) / 16, (curr->nx + 15) / 16);
  evolve_kernel<<<grid, block>>>(curr->dev_data, prev->dev_data, a, dt, curr->nx, curr->ny, curr->dx2, curr->dy2);
  GPU_CHECK(hipGetLastError());
}
