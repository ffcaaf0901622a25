// Ewald sum for point charges: real space by pairs, reciprocal space by structure factors; checks the Madelung
// constant of rock salt, and forces against the host.
#include <hip/hip_runtime.h>
#include <hip/hip_complex.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define hipCheck(stmt) do { const hipError_t err_ = stmt; if (err_ != hipSuccess) { \
  std::fprintf(stderr, "Failed to run %s: %s\n", #stmt, hipGetErrorString(err_)); std::exit(EXIT_FAILURE); } } while (0)

struct Box { double length, alpha, cut; int kmax; };

__global__ void real_space(const double4* p, double3* force, double* energy, int n, Box b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  extern __shared__ double4 tile[];
  double e = 0;
  double3 f = make_double3(0, 0, 0);
  const double4 me = i < n ? p[i] : make_double4(0, 0, 0, 0);
  for (int base = 0; base < n; base += blockDim.x) {
    if (base + threadIdx.x < n) tile[threadIdx.x] = p[base + threadIdx.x];
    __syncthreads();
    const int count = min((int)blockDim.x, n - base);
    for (int j = 0; i < n && j < count; ++j) {
      if (base + j == i) continue;
      double x = me.x - tile[j].x, y = me.y - tile[j].y, z = me.z - tile[j].z;
      x -= b.length * rint(x / b.length);
      y -= b.length * rint(y / b.length);
      z -= b.length * rint(z / b.length);
      const double r2 = x * x + y * y + z * z;
      if (r2 > b.cut * b.cut) continue;
      const double r = sqrt(r2), qq = me.w * tile[j].w, erfcr = erfc(b.alpha * r) / r;
      e += 0.5 * qq * erfcr;
      const double s = qq * (erfcr + 2 * b.alpha / sqrt(M_PI) * exp(-b.alpha * b.alpha * r2)) / r2;
      f.x += s * x; f.y += s * y; f.z += s * z;
    }
    __syncthreads();
  }
  if (i < n) {
    force[i] = f;
    energy[i] = e - b.alpha / sqrt(M_PI) * me.w * me.w;
  }
}

__host__ __device__ inline void wave_vector(int index, const Box& b, int& x, int& y, int& z) {
  const int side = 2 * b.kmax + 1;
  x = index % side - b.kmax;
  y = index / side % side - b.kmax;
  z = index / (side * side) - b.kmax;
}

// a block for each wave vector
__global__ void structure_factors(const double4* p, hipDoubleComplex* s, int n, Box b) {
  __shared__ hipDoubleComplex part[64];
  int kx, ky, kz;
  wave_vector(blockIdx.x, b, kx, ky, kz);
  hipDoubleComplex sum = make_hipDoubleComplex(0, 0);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    double sine, cosine;
    sincos(2 * M_PI / b.length * (kx * p[i].x + ky * p[i].y + kz * p[i].z), &sine, &cosine);
    sum = hipCadd(sum, make_hipDoubleComplex(p[i].w * cosine, p[i].w * sine));
  }
  part[threadIdx.x] = sum;
  for (unsigned w = blockDim.x / 2; w; w /= 2) {
    __syncthreads();
    if (threadIdx.x < w) part[threadIdx.x] = hipCadd(part[threadIdx.x], part[threadIdx.x + w]);
  }
  if (threadIdx.x == 0) s[blockIdx.x] = part[0];
}

__host__ __device__ inline double weight(int x, int y, int z, const Box& b) {
  const double g = 2 * M_PI / b.length, k2 = g * g * (x * x + y * y + z * z);
  return k2 == 0 ? 0 : 2 * M_PI / (b.length * b.length * b.length) * exp(-k2 / (4 * b.alpha * b.alpha)) / k2;
}

__global__ void reciprocal_forces(const double4* p, const hipDoubleComplex* s, double3* force, double* energy, int n, int vectors, Box b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double3 f = make_double3(0, 0, 0);
  double e = 0;
  for (int v = 0; v < vectors; ++v) {
    int x, y, z;
    wave_vector(v, b, x, y, z);
    const double w = weight(x, y, z, b), g = 2 * M_PI / b.length;
    double sine, cosine;
    sincos(g * (x * p[i].x + y * p[i].y + z * p[i].z), &sine, &cosine);
    const hipDoubleComplex term = hipCmul(hipConj(s[v]), make_hipDoubleComplex(cosine, sine));
    e += w * p[i].w * hipCreal(term);
    const double m = 2 * w * p[i].w * g * hipCimag(term);
    f.x += m * x; f.y += m * y; f.z += m * z;
  }
  force[i] += f;
  energy[i] += e;
}

static double run(const std::vector<double4>& p, const Box& b, std::vector<double3>& forces) {
  const int n = int(p.size()), side = 2 * b.kmax + 1, vectors = side * side * side;
  double4* dp; double3* df; double* de; hipDoubleComplex* ds;
  hipCheck(hipMalloc(&dp, n * sizeof(*dp)));
  hipCheck(hipMalloc(&df, n * sizeof(*df)));
  hipCheck(hipMalloc(&de, n * sizeof(*de)));
  hipCheck(hipMalloc(&ds, vectors * sizeof(*ds)));
  hipCheck(hipMemcpy(dp, p.data(), n * sizeof(*dp), hipMemcpyHostToDevice));
  real_space<<<(n + 63) / 64, 64, 64 * sizeof(double4)>>>(dp, df, de, n, b);
  structure_factors<<<vectors, 64>>>(dp, ds, n, b);
  reciprocal_forces<<<(n + 63) / 64, 64>>>(dp, ds, df, de, n, vectors, b);
  hipCheck(hipGetLastError());
  std::vector<double> energy(n);
  forces.resize(n);
  hipCheck(hipMemcpy(energy.data(), de, n * sizeof(double), hipMemcpyDeviceToHost));
  hipCheck(hipMemcpy(forces.data(), df, n * sizeof(double3), hipMemcpyDeviceToHost));
  hipCheck(hipFree(dp)); hipCheck(hipFree(df)); hipCheck(hipFree(de)); hipCheck(hipFree(ds));
  double total = 0;
  for (double e : energy) total += e;
  return total;
}

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 4;
  std::vector<double4> salt;
  for (int i = 0; i < side * side * side; ++i) {
    const int x = i % side, y = i / side % side, z = i / side / side;
    salt.push_back({double(x), double(y), double(z), (x + y + z) % 2 ? -1.0 : 1.0});
  }
  std::vector<double3> f;
  Box b{double(side), 7.0 / side, side / 2.0, 9};
  const double madelung = -2 * run(salt, b, f) / salt.size();
  double largest = 0;
  for (auto& v : f) largest = std::fmax(largest, std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
  std::printf("Madelung constant %.8f (1.74756459), largest force %.1e\n", madelung, largest);
  bool good = std::fabs(madelung - 1.7475645946) < 1e-4 && largest < 1e-4;

  // a disordered system: forces must not depend on the splitting, and must add up to nothing
  unsigned long long seed = 9;
  auto rnd = [&] { seed = seed * 6364136223846793005ull + 1442695040888963407ull; return (seed >> 11) * 0x1p-53; };
  std::vector<double4> gas;
  for (int i = 0; i < 40; ++i) gas.push_back({10 * rnd(), 10 * rnd(), 10 * rnd(), i % 2 ? 1.0 : -1.0});
  std::vector<double3> f1, f2;
  const double e1 = run(gas, {10, 0.75, 5, 8}, f1), e2 = run(gas, {10, 0.85, 5, 8}, f2);
  double difference = 0, sum = 0, scale = 0;
  for (size_t i = 0; i < gas.size(); ++i) {
    difference = std::fmax(difference, std::fabs(f1[i].x - f2[i].x) + std::fabs(f1[i].y - f2[i].y) + std::fabs(f1[i].z - f2[i].z));
    scale = std::fmax(scale, std::fabs(f1[i].x));
    sum += f1[i].x + f1[i].y + f1[i].z;
  }
  std::printf("gas: energy %.6f and %.6f, forces differ by %.1e of %.2f, sum %.1e\n", e1, e2, difference, scale, sum);
  good = good && std::fabs(e1 - e2) < 1e-4 * std::fabs(e1) && difference < 1e-3 * scale && std::fabs(sum) < 1e-3;
  std::printf(good ? "PASSED\n" : "FAILED\n");
  return good ? 0 : 1;
}
