#pragma once
#include <hip/hip_runtime.h>
struct Body { double x, v, mass; };
extern __constant__ double spring;                       // physics.hip
extern __device__ unsigned long long evaluations;        // physics.hip
__device__ double force(const Body& b);                  // physics.hip
__device__ double energy(const Body& b);                 // statistics.hip
__global__ void summarise(const Body* bodies, int n, double* energies, unsigned* fast); // statistics.hip
__device__ void leapfrog(Body& b, double dt, int steps); // integrator.hip
