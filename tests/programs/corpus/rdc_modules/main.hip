// Device functions and variables over four files: separate compilation
#include "physics.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern __constant__ double speed_limit; // statistics.hip

#define HIP_CHECK(x) if ((x) != hipSuccess) { std::fprintf(stderr, "%s at %d\n", hipGetErrorString(hipGetLastError()), __LINE__); return 1; }

__global__ void simulate(Body* bodies, int n, double dt, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) leapfrog(bodies[i], dt, steps);
}

// Energy and number of fast bodies as the device finds them, after the host has set the limit; false if a call fails
static bool summary(const Body* d, int n, double limit, double& energy, unsigned& fast) {
  const int blocks = (n + 63) / 64;
  double* energies;
  unsigned* counter;
  if (hipMemcpyToSymbol(HIP_SYMBOL(speed_limit), &limit, sizeof limit) != hipSuccess) return false;
  if (hipMallocManaged(&energies, blocks * sizeof(double)) != hipSuccess) return false;
  if (hipMallocManaged(&counter, sizeof(unsigned)) != hipSuccess) return false;
  *counter = 0;
  summarise<<<blocks, 64>>>(d, n, energies, counter);
  if (hipDeviceSynchronize() != hipSuccess) return false;
  energy = 0;
  for (int i = 0; i < blocks; ++i) energy += energies[i];
  fast = *counter;
  return hipFree(energies) == hipSuccess && hipFree(counter) == hipSuccess;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 300, steps = 100;
  const double dt = 0.01;
  std::vector<Body> bodies(n), start;
  for (int i = 0; i < n; ++i) bodies[i] = {0.1 * (i % 13) - 0.5, 0.01 * i, 1.0 + i % 3};
  start = bodies;
  Body* d;
  HIP_CHECK(hipMalloc(&d, n * sizeof(Body)));
  HIP_CHECK(hipMemcpy(d, bodies.data(), n * sizeof(Body), hipMemcpyHostToDevice));
  double before = 0, after = 0, host_energy = 0;
  unsigned fast = 0, slow = 0, host_fast = 0;
  if (!summary(d, n, 1.0, before, fast)) return 1;
  simulate<<<(n + 63) / 64, 64>>>(d, n, dt, steps);
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(bodies.data(), d, n * sizeof(Body), hipMemcpyDeviceToHost));
  unsigned long long count = 0;
  if (!summary(d, n, 1e9, after, slow)) return 1;
  for (const Body& b : start) {
    host_energy += 0.5 * b.mass * b.v * b.v + 0.5 * 4.0 * b.x * b.x;
    host_fast += std::fabs(b.v) > 1.0;
  }
  HIP_CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(evaluations), sizeof count));
  HIP_CHECK(hipFree(d));
  double worst = 0, exact = 0;
  for (int i = 0; i < n; ++i) {
    Body b = start[i];
    for (int s = 0; s < steps; ++s) {
      b.v += 0.5 * dt * -4.0 * b.x / b.mass;
      b.x += dt * b.v;
      b.v += 0.5 * dt * -4.0 * b.x / b.mass;
    }
    worst = std::fmax(worst, std::fabs(b.x - bodies[i].x));
    const double w = std::sqrt(4.0 / b.mass), t = dt * steps;
    exact = std::fmax(exact, std::fabs(start[i].x * std::cos(w * t) + start[i].v / w * std::sin(w * t) - bodies[i].x));
  }
  std::printf("%d bodies: host differs by %.1e, exact solution by %.1e, %llu forces\n", n, worst, exact, count);
  std::printf("energy %.6f, then %.6f; %u fast\n", before, after, fast);
  const bool kept = std::fabs(before - host_energy) < 1e-9 * host_energy && std::fabs(after - before) < 1e-3 * before;
  const bool good = kept && fast == host_fast && slow == 0 && worst < 1e-12 && exact < 1e-3 && count == 2ull * n * steps;
  std::puts(good ? "PASSED" : "FAILED");
  return good ? 0 : 1;
}
