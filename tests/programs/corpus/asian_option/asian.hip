// Arithmetic Asian call by Monte Carlo, Philox4x32-10 counters, Box-Muller, antithetic paths,
// geometric Asian call as control variate (closed form).
#include <hip/hip_runtime.h>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace philox {
constexpr std::uint32_t M0 = 0xD2511F53u, M1 = 0xCD9E8D57u, W0 = 0x9E3779B9u, W1 = 0xBB67AE85u;
struct state { std::uint32_t c[4]; };

__host__ __device__ constexpr state generate(state s, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t(M0) * s.c[0], p1 = std::uint64_t(M1) * s.c[2];
    s = state{{std::uint32_t(p1 >> 32) ^ s.c[1] ^ k0, std::uint32_t(p1), std::uint32_t(p0 >> 32) ^ s.c[3] ^ k1, std::uint32_t(p0)}};
    k0 += W0;
    k1 += W1;
  }
  return s;
}
// known answers of the generator's paper (all zeros; all ones)
constexpr state zeros = generate(state{{0, 0, 0, 0}}, 0, 0);
static_assert(zeros.c[0] == 0x6627e8d5u && zeros.c[1] == 0xe169c58du && zeros.c[2] == 0xbc57ac4cu && zeros.c[3] == 0x9b00dbd8u);
}  // namespace philox

struct Parameters {
  double s0 = 100, strike = 100, rate = 0.05, sigma = 0.2, years = 1;
  int steps = 16;
};

template <class T> __host__ __device__ inline void normals(std::uint32_t path, std::uint32_t block, T out[4]) {
  const auto s = philox::generate(philox::state{{path, block, 0, 0}}, 0xDEADBEEFu, 42u);
  for (int k = 0; k < 2; ++k) {
    const T u1 = (s.c[2 * k] + T(0.5)) * T(2.3283064365386963e-10), u2 = s.c[2 * k + 1] * T(2.3283064365386963e-10);
    const T r = sqrt(T(-2) * log(u1));
    out[2 * k] = r * cos(T(6.283185307179586) * u2);
    out[2 * k + 1] = r * sin(T(6.283185307179586) * u2);
  }
}

__host__ __device__ inline void simulate(const Parameters& p, std::uint32_t path, double& arithmetic, double& geometric) {
  const double dt = p.years / p.steps, drift = (p.rate - 0.5 * p.sigma * p.sigma) * dt, volatility = p.sigma * sqrt(dt);
  arithmetic = geometric = 0;
  for (int sign = -1; sign <= 1; sign += 2) {
    double x = log(p.s0), sum = 0, logs = 0, z[4];
    for (int i = 0; i < p.steps; ++i) {
      if (i % 4 == 0) normals<double>(path, i / 4, z);
      x += drift + sign * volatility * z[i % 4];
      sum += exp(x);
      logs += x;
    }
    const double a = sum / p.steps - p.strike, g = exp(logs / p.steps) - p.strike;
    arithmetic += 0.5 * (a > 0 ? a : 0);
    geometric += 0.5 * (g > 0 ? g : 0);
  }
}

struct Sums { double a, g, aa, gg, ag; };

__global__ __launch_bounds__(256, 2) void paths(Parameters p, std::uint32_t n, Sums* sums) {
  Sums mine{};
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    double a, g;
    simulate(p, i, a, g);
    mine.a += a; mine.g += g; mine.aa += a * a; mine.gg += g * g; mine.ag += a * g;
  }
  __shared__ Sums shared[256];
  shared[threadIdx.x] = mine;
  for (unsigned w = blockDim.x / 2; w; w /= 2) {
    __syncthreads();
    if (threadIdx.x < w) {
      Sums &x = shared[threadIdx.x], &y = shared[threadIdx.x + w];
      x.a += y.a; x.g += y.g; x.aa += y.aa; x.gg += y.gg; x.ag += y.ag;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

static double geometric_asian(const Parameters& p) {
  const double n = p.steps, dt = p.years / n;
  const double mean = std::log(p.s0) + (p.rate - 0.5 * p.sigma * p.sigma) * dt * (n + 1) / 2;
  const double variance = p.sigma * p.sigma * dt * (n + 1) * (2 * n + 1) / (6 * n), sd = std::sqrt(variance);
  const double d1 = (mean - std::log(p.strike) + variance) / sd;
  auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  return std::exp(mean + variance / 2) * cdf(d1) - p.strike * cdf(d1 - sd);
}

int main(int argc, char** argv) {
  Parameters p;
  std::uint32_t n = 8192;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg(argv[i]);
    if (arg == "--paths" && i + 1 < argc) n = std::strtoul(argv[++i], nullptr, 10);
    else if (arg == "--steps" && i + 1 < argc) p.steps = std::atoi(argv[++i]);
    else { std::fprintf(stderr, "unknown option %s\n", argv[i]); return 64; }
  }
  constexpr int blocks = 16;
  Sums* sums;
  [[maybe_unused]] hipError_t e = hipHostMalloc(reinterpret_cast<void**>(&sums), blocks * sizeof(Sums), hipHostMallocMapped);
  assert(e == hipSuccess);
  Sums* d_sums;
  e = hipHostGetDevicePointer(reinterpret_cast<void**>(&d_sums), sums, 0);
  assert(e == hipSuccess);
  const auto begin = std::chrono::steady_clock::now();
  hipLaunchKernelGGL(paths, dim3(blocks), dim3(256), 0, nullptr, p, n, d_sums);
  e = hipDeviceSynchronize();
  assert(e == hipSuccess);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  Sums total{}, host{};
  for (int b = 0; b < blocks; ++b) { total.a += sums[b].a; total.g += sums[b].g; total.aa += sums[b].aa; total.gg += sums[b].gg; total.ag += sums[b].ag; }
  for (std::uint32_t i = 0; i < n; ++i) {
    double a, g;
    simulate(p, i, a, g);
    host.a += a;
    host.g += g;
  }
  const double covariance = total.ag / n - total.a / n * (total.g / n), variance = total.gg / n - total.g / n * (total.g / n);
  const double beta = covariance / variance, exact = geometric_asian(p), discount = std::exp(-p.rate * p.years);
  const double price = discount * (total.a / n - beta * (total.g / n - exact)), plain = discount * total.a / n;
  std::printf("%u paths of %d steps in %.2f ms: %.6f without, %.6f with control variate; geometric %.6f (exact %.6f)\n", n, p.steps,
              took.count(), plain, price, discount * total.g / n, discount * exact);
  (void)hipHostFree(sums);
  const double relative = std::fmax(std::fabs(total.a - host.a) / host.a, std::fabs(total.g - host.g) / host.g);
  std::printf("relative difference to the host: %.2e\n", relative);
  if (!(relative < 1e-11) || std::fabs(total.g / n - exact) > 0.25) { std::printf("FAILED\n"); return 1; }
  std::printf("PASSED\n");
}
