#include "physics.h"
__device__ void leapfrog(Body& b, double dt, int steps) {
  for (int s = 0; s < steps; ++s) {
    b.v += 0.5 * dt * force(b) / b.mass;
    b.x += dt * b.v;
    b.v += 0.5 * dt * force(b) / b.mass;
  }
}
