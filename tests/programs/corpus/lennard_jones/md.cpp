// Lennard-Jones fluid in a periodic box: cell lists built on the device, velocity Verlet, NVE.
#include <hip/hip_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#define HIP_SAFE_CALL(x)                                                        \
  do {                                                                          \
    hipError_t err = x;                                                         \
    if (err != hipSuccess) {                                                    \
      std::cerr << "HIP error: " << hipGetErrorString(err) << " in " << __func__ \
                << " (" << __FILE__ << ":" << __LINE__ << ")" << std::endl;     \
      std::exit(1);                                                             \
    }                                                                           \
  } while (0)

constexpr double cutoff = 2.5;

__host__ __device__ inline double wrap(double d, double box) { return d - box * rint(d / box); }

__device__ int3 cell_of(double3 r, double box, int cells) {
  const double s = cells / box;
  int3 c;
  c.x = min(cells - 1, max(0, (int)((r.x - floor(r.x / box) * box) * s)));
  c.y = min(cells - 1, max(0, (int)((r.y - floor(r.y / box) * box) * s)));
  c.z = min(cells - 1, max(0, (int)((r.z - floor(r.z / box) * box) * s)));
  return c;
}

__global__ void count_cells(const double3* r, int* counts, int* rank, int n, double box, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int3 c = cell_of(r[i], box, cells);
  rank[i] = atomicAdd(&counts[(c.z * cells + c.y) * cells + c.x], 1);
}

__global__ void scan_cells(const int* counts, int* starts, int m) {   // one block
  __shared__ int sums[256];
  const int per = (m + blockDim.x - 1) / blockDim.x, begin = threadIdx.x * per, end = min(m, begin + per);
  int sum = 0;
  for (int i = begin; i < end; ++i) sum += counts[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    int other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
    __syncthreads();
  }
  int at = sums[threadIdx.x] - sum;
  for (int i = begin; i < end; ++i) { starts[i] = at; at += counts[i]; }
  if (threadIdx.x == blockDim.x - 1) starts[m] = sums[threadIdx.x];
}

__global__ void fill_cells(const double3* r, const int* starts, const int* rank, int* order, int n, double box, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int3 c = cell_of(r[i], box, cells);
  order[starts[(c.z * cells + c.y) * cells + c.x] + rank[i]] = i;
}

__global__ void forces(const double3* r, double3* f, double* energy, const int* starts, const int* order, int n, double box, int cells) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double3 ri = r[i];
  const int3 c = cell_of(ri, box, cells);
  double fx = 0, fy = 0, fz = 0, e = 0;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) {
        const int cell = (((c.z + dz + cells) % cells) * cells + (c.y + dy + cells) % cells) * cells + (c.x + dx + cells) % cells;
        for (int k = starts[cell]; k < starts[cell + 1]; ++k) {
          const int j = order[k];
          if (j == i) continue;
          const double x = wrap(ri.x - r[j].x, box), y = wrap(ri.y - r[j].y, box), z = wrap(ri.z - r[j].z, box);
          const double r2 = x * x + y * y + z * z;
          if (r2 >= cutoff * cutoff) continue;
          const double i2 = 1 / r2, i6 = i2 * i2 * i2, s = 24 * i2 * i6 * (2 * i6 - 1);
          fx += s * x; fy += s * y; fz += s * z;
          e += 2 * i6 * (i6 - 1);
        }
      }
  f[i] = make_double3(fx, fy, fz);
  energy[i] = e;
}

__global__ void kick_drift(double3* r, double3* v, const double3* f, double dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  v[i] += f[i] * (0.5 * dt);
  r[i] += v[i] * dt;
}

__global__ void kick(double3* v, const double3* f, double dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] += 0.5 * dt * f[i];
}

template <class T> struct Device {
  T* p;
  size_t n;
  Device(size_t n_) : n(n_) { HIP_SAFE_CALL(hipMalloc((void**)&p, n * sizeof(T))); }
  ~Device() { HIP_SAFE_CALL(hipFree(p)); }
  std::vector<T> get() { std::vector<T> h(n); HIP_SAFE_CALL(hipMemcpy(h.data(), p, n * sizeof(T), hipMemcpyDeviceToHost)); return h; }
  void set(const std::vector<T>& h) { HIP_SAFE_CALL(hipMemcpy(p, h.data(), n * sizeof(T), hipMemcpyHostToDevice)); }
};

static double host_energy(const std::vector<double3>& r, std::vector<double3>& f, double box) {
  double e = 0;
  for (auto& x : f) x = make_double3(0, 0, 0);
  for (size_t i = 0; i < r.size(); ++i)
    for (size_t j = i + 1; j < r.size(); ++j) {
      const double x = wrap(r[i].x - r[j].x, box), y = wrap(r[i].y - r[j].y, box), z = wrap(r[i].z - r[j].z, box), r2 = x * x + y * y + z * z;
      if (r2 >= cutoff * cutoff) continue;
      const double i2 = 1 / r2, i6 = i2 * i2 * i2, s = 24 * i2 * i6 * (2 * i6 - 1);
      f[i] += make_double3(s * x, s * y, s * z);
      f[j] -= make_double3(s * x, s * y, s * z);
      e += 4 * i6 * (i6 - 1);
    }
  return e;
}

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 8, steps = argc > 2 ? std::atoi(argv[2]) : 20;
  const int n = side * side * side;
  const double density = 0.8, box = std::cbrt(n / density), dt = 0.002;
  const int cells = int(box / cutoff), m = cells * cells * cells;
  if (cells < 3) { std::cerr << "box too small\n"; return 1; }
  std::vector<double3> r(n), v(n), f(n);
  std::mt19937 gen(4);
  std::normal_distribution<double> gauss(0, 1);
  double3 total = {0, 0, 0};
  for (int i = 0; i < n; ++i) {
    r[i] = {(i % side + 0.5) * box / side, (i / side % side + 0.5) * box / side, (i / side / side + 0.5) * box / side};
    v[i] = {gauss(gen), gauss(gen), gauss(gen)};
    total += v[i];
  }
  for (auto& x : v) x -= total / double(n);
  Device<double3> dr(n), dv(n), df(n);
  Device<double> de(n);
  Device<int> counts(m), starts(m + 1), rank(n), order(n);
  dr.set(r);
  dv.set(v);
  const int block = 128, grid = (n + block - 1) / block;
  auto compute = [&] {
    HIP_SAFE_CALL(hipMemsetAsync(counts.p, 0, m * sizeof(int), 0));
    count_cells<<<grid, block>>>(dr.p, counts.p, rank.p, n, box, cells);
    scan_cells<<<1, 256>>>(counts.p, starts.p, m);
    fill_cells<<<grid, block>>>(dr.p, starts.p, rank.p, order.p, n, box, cells);
    forces<<<grid, block>>>(dr.p, df.p, de.p, starts.p, order.p, n, box, cells);
    HIP_SAFE_CALL(hipGetLastError());
  };
  auto energy = [&](double& potential, double& kinetic) {
    potential = kinetic = 0;
    for (double e : de.get()) potential += e;
    for (auto& x : dv.get()) kinetic += 0.5 * (x.x * x.x + x.y * x.y + x.z * x.z);
  };
  double p0, k0, p1, k1;
  compute();
  energy(p0, k0);
  for (int s = 0; s < steps; ++s) {
    kick_drift<<<grid, block>>>(dr.p, dv.p, df.p, dt, n);
    compute();
    kick<<<grid, block>>>(dv.p, df.p, dt, n);
  }
  energy(p1, k1);
  const auto got = dr.get(), gf = df.get();
  host_energy(r, f, box);
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i) { v[i] += f[i] * (0.5 * dt); r[i] += v[i] * dt; }
    host_energy(r, f, box);
    for (int i = 0; i < n; ++i) v[i] += f[i] * (0.5 * dt);
  }
  double worst = 0, worst_force = 0, momentum = 0;
  for (int i = 0; i < n; ++i) {
    worst = std::fmax(worst, std::fabs(got[i].x - r[i].x) + std::fabs(got[i].y - r[i].y) + std::fabs(got[i].z - r[i].z));
    worst_force = std::fmax(worst_force, std::fabs(gf[i].x - f[i].x) + std::fabs(gf[i].y - f[i].y) + std::fabs(gf[i].z - f[i].z));
  }
  for (auto& x : dv.get()) momentum += x.x + x.y + x.z;
  std::printf("%d particles, %d cells, %d steps\nenergy %.6f -> %.6f (potential %.4f, kinetic %.4f), momentum %.1e\n", n, m, steps, p0 + k0,
              p1 + k1, p1, k1, momentum);
  std::printf("largest difference to the host: positions %.2e, forces %.2e\n", worst, worst_force);
  const bool good = worst < 1e-9 && worst_force < 1e-6 && std::fabs(p1 + k1 - p0 - k0) < 2e-2 * n && std::fabs(momentum) < 1e-8;
  std::puts(good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
