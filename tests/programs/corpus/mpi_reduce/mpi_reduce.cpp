// Each rank integrates a part of 4 / (1 + x * x) on its GPU, and the parts are added by MPI; then heat spreads along a ring that
// is divided among the ranks, which exchange their ends after every step
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

// u has a cell of each neighbour at its ends
__global__ void spread(const double *u, double *next, int n, double c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i <= n) next[i] = u[i] + c * (u[i - 1] - 2 * u[i] + u[i + 1]);
}

// Heat on a ring of `cells` for each rank: how far the ranks' cells are from what the whole ring gives on the host
static double ring(int rank, int size, int cells, int steps) {
  const int all = cells * size, left = (rank + size - 1) % size, right = (rank + 1) % size;
  const double c = 0.2;
  std::vector<double> whole(all), next(all), mine(cells + 2), everyone(all);
  for (int i = 0; i < all; i++) whole[i] = i % 7 == 0 ? 100 : i % 3;
  for (int i = 0; i < cells; i++) mine[i + 1] = whole[rank * cells + i];
  double *u, *v, ends[2];
  HIP_CHECK(hipMalloc(&u, mine.size() * sizeof(double)));
  HIP_CHECK(hipMalloc(&v, mine.size() * sizeof(double)));
  HIP_CHECK(hipMemcpy(u, mine.data(), mine.size() * sizeof(double), hipMemcpyHostToDevice));
  for (int s = 0; s < steps; s++) {
    double first, last;
    HIP_CHECK(hipMemcpy(&first, u + 1, sizeof first, hipMemcpyDeviceToHost));
    HIP_CHECK(hipMemcpy(&last, u + cells, sizeof last, hipMemcpyDeviceToHost));
    MPI_CHECK(MPI_Sendrecv(&first, 1, MPI_DOUBLE, left, 1, &ends[1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_CHECK(MPI_Sendrecv(&last, 1, MPI_DOUBLE, right, 2, &ends[0], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    HIP_CHECK(hipMemcpy(u, &ends[0], sizeof(double), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(u + cells + 1, &ends[1], sizeof(double), hipMemcpyHostToDevice));
    spread<<<(cells + 63) / 64, 64>>>(u, v, cells, c);
    std::swap(u, v);
  }
  HIP_CHECK(hipMemcpy(mine.data(), u, mine.size() * sizeof(double), hipMemcpyDeviceToHost));
  MPI_CHECK(MPI_Gather(&mine[1], cells, MPI_DOUBLE, everyone.data(), cells, MPI_DOUBLE, 0, MPI_COMM_WORLD));
  for (int s = 0; s < steps; s++) {
    for (int i = 0; i < all; i++) next[i] = whole[i] + c * (whole[(i + all - 1) % all] - 2 * whole[i] + whole[(i + 1) % all]);
    whole.swap(next);
  }
  double worst = 0;
  for (int i = 0; rank == 0 && i < all; i++) worst = std::fmax(worst, std::fabs(whole[i] - everyone[i]));
  HIP_CHECK(hipFree(u));
  HIP_CHECK(hipFree(v));
  return worst;
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
  const double worst = ring(rank, size, 200, 60);
  int bad = 0;
  if (rank == 0) {
    printf("the ring is off by %.1e\n", worst);
    bad = worst > 1e-9 || !(std::fabs(total - M_PI) < 1e-9) || total != everywhere;
    printf("pi is about %.12f (error %.1e), %.3f s on %s\n%s\n", total, std::fabs(total - M_PI), MPI_Wtime() - t0, name, bad ? "FAILED" : "PASSED");
  }
  MPI_CHECK(MPI_Finalize());
  return bad;
}
