// Each rank integrates a part of 4 / (1 + x * x) on its GPU; the parts are added by MPI
#include <hip/hip_runtime.h>
#include <mpi.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define MPI_CHECK(call) do { int e_ = (call); if (e_ != MPI_SUCCESS) { fprintf(stderr, "MPI error %d, line %d\n", e_, __LINE__); MPI_Abort(MPI_COMM_WORLD, e_); } } while (0)
#define HIP_CHECK(call) do { hipError_t e_ = (call); if (e_ != hipSuccess) { fprintf(stderr, "HIP error %s, line %d\n", hipGetErrorString(e_), __LINE__); MPI_Abort(MPI_COMM_WORLD, 1); } } while (0)

__global__ void integrate(double *parts, long first, long count, double h) {
  __shared__ double s[128];
  double sum = 0;
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    double x = (first + i + 0.5) * h;
    sum += 4.0 / (1.0 + x * x);
  }
  s[threadIdx.x] = sum;
  for (int w = 64; w > 0; w /= 2) {
    __syncthreads();
    if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w];
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = s[0];
}

int main(int argc, char **argv) {
  MPI_CHECK(MPI_Init(&argc, &argv));
  int rank, size, devices, length;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MPI_CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  MPI_CHECK(MPI_Get_processor_name(name, &length));
  HIP_CHECK(hipGetDeviceCount(&devices));
  HIP_CHECK(hipSetDevice(rank % devices));
  long n = argc > 1 ? atol(argv[1]) : 200000;
  if (rank == 0) printf("%d ranks, %ld intervals\n", size, n);
  MPI_CHECK(MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD));
  const long count = n / size + (rank < n % size), first = rank * (n / size) + (rank < n % size ? rank : n % size);
  const int blocks = 16;
  double *d, part = 0, total = 0, t0 = MPI_Wtime();
  std::vector<double> h(blocks);
  HIP_CHECK(hipMalloc(&d, blocks * sizeof(double)));
  integrate<<<blocks, 128>>>(d, first, count, 1.0 / n);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipMemcpy(h.data(), d, blocks * sizeof(double), hipMemcpyDeviceToHost));
  for (double v : h) part += v / n;
  MPI_CHECK(MPI_Reduce(&part, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
  double everywhere = 0;
  MPI_CHECK(MPI_Allreduce(&part, &everywhere, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  MPI_CHECK(MPI_Barrier(MPI_COMM_WORLD));
  HIP_CHECK(hipFree(d));
  int bad = 0;
  if (rank == 0) {
    bad = !(std::fabs(total - M_PI) < 1e-9) || total != everywhere;
    printf("pi is about %.12f (error %.1e), %.3f s on %s\n%s\n", total, std::fabs(total - M_PI), MPI_Wtime() - t0, name, bad ? "FAILED" : "PASSED");
  }
  MPI_CHECK(MPI_Finalize());
  return bad;
}
