// Device functions and variables over three files: separate compilation
#include "physics.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define HIP_CHECK(x) if ((x) != hipSuccess) { std::fprintf(stderr, "%s at %d\n", hipGetErrorString(hipGetLastError()), __LINE__); return 1; }

__global__ void simulate(Body* bodies, int n, double dt, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) leapfrog(bodies[i], dt, steps);
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
  simulate<<<(n + 63) / 64, 64>>>(d, n, dt, steps);
  HIP_CHECK(hipDeviceSynchronize());
  HIP_CHECK(hipMemcpy(bodies.data(), d, n * sizeof(Body), hipMemcpyDeviceToHost));
  unsigned long long count = 0;
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
  const bool good = worst < 1e-12 && exact < 1e-3 && count == 2ull * n * steps;
  std::puts(good ? "PASSED" : "FAILED");
  return good ? 0 : 1;
}
