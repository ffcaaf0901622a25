#include "hip/hip_runtime.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "timer.h"

#define BLOCK_SIZE 128
#define SOFTENING 1e-9f

/* all-pairs gravity, tiles of bodies in shared memory, structure of arrays in one buffer */
typedef struct { float4 *pos, *vel; } BodySystem;

void randomizeBodies(float *data, int n) {
  for (int i = 0; i < n; i++) {
    data[i] = 2.0f * (rand() / (float)RAND_MAX) - 1.0f;
  }
}

__global__
void bodyForce(float4 *p, float4 *v, float dt, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) {
    float Fx = 0.0f; float Fy = 0.0f; float Fz = 0.0f;
    for (int tile = 0; tile < gridDim.x; tile++) {
      __shared__ float3 spos[BLOCK_SIZE];
      float4 tpos = p[tile * blockDim.x + threadIdx.x];
      spos[threadIdx.x] = make_float3(tpos.x, tpos.y, tpos.z);
      __syncthreads();
      #pragma unroll
      for (int j = 0; j < BLOCK_SIZE; j++) {
        float dx = spos[j].x - p[i].x;
        float dy = spos[j].y - p[i].y;
        float dz = spos[j].z - p[i].z;
        float distSqr = dx*dx + dy*dy + dz*dz + SOFTENING;
        float invDist = rsqrtf(distSqr);
        float invDist3 = invDist * invDist * invDist;
        Fx += dx * invDist3; Fy += dy * invDist3; Fz += dz * invDist3;
      }
      __syncthreads();
    }
    v[i].x += dt*Fx; v[i].y += dt*Fy; v[i].z += dt*Fz;
  }
}

int main(const int argc, const char** argv) {
  int nBodies = 4 * BLOCK_SIZE;
  if (argc > 1) nBodies = atoi(argv[1]);
  if (nBodies % BLOCK_SIZE) { printf("number of bodies must be a multiple of %d\n", BLOCK_SIZE); return 1; }
  const float dt = 0.001f; // time step
  const int nIters = 3;    // simulation iterations

  int bytes = 2*nBodies*sizeof(float4);
  float *buf = (float*)malloc(bytes);
  float *ref = (float*)malloc(bytes);
  BodySystem p = { (float4*)buf, ((float4*)buf) + nBodies };
  srand(0);
  randomizeBodies(buf, 8*nBodies); // Init pos / vel data
  for (int i = 0; i < 8*nBodies; i++) ref[i] = buf[i];

  float *d_buf;
  if (hipMalloc(&d_buf, bytes) != hipSuccess) { printf("hipMalloc failed\n"); return 1; }
  BodySystem d_p = { (float4*)d_buf, ((float4*)d_buf) + nBodies };

  int nBlocks = (nBodies + BLOCK_SIZE - 1) / BLOCK_SIZE;
  double totalTime = 0.0;
  for (int iter = 1; iter <= nIters; iter++) {
    StartTimer();
    (void)hipMemcpy(d_buf, buf, bytes, hipMemcpyHostToDevice);
    hipLaunchKernelGGL(bodyForce, dim3(nBlocks), dim3(BLOCK_SIZE), 0, 0, d_p.pos, d_p.vel, dt, nBodies);
    (void)hipMemcpy(buf, d_buf, bytes, hipMemcpyDeviceToHost);
    for (int i = 0 ; i < nBodies; i++) { // integrate position
      p.pos[i].x += p.vel[i].x*dt;
      p.pos[i].y += p.vel[i].y*dt;
      p.pos[i].z += p.vel[i].z*dt;
    }
    const double tElapsed = GetTimer() / 1000.0;
    if (iter > 1) totalTime += tElapsed;
  }
  double avgTime = totalTime / (double)(nIters-1);
  printf("%d Bodies: average %0.3f Billion Interactions / second\n", nBodies, 1e-9 * nBodies * nBodies / avgTime);

  float4 *rp = (float4*)ref, *rv = rp + nBodies;
  for (int iter = 1; iter <= nIters; iter++) {
    for (int i = 0; i < nBodies; i++) {
      double F[3] = {0, 0, 0};
      for (int j = 0; j < nBodies; j++) {
        float dx = rp[j].x - rp[i].x, dy = rp[j].y - rp[i].y, dz = rp[j].z - rp[i].z;
        float inv = 1.0f / sqrtf(dx*dx + dy*dy + dz*dz + SOFTENING), inv3 = inv * inv * inv;
        F[0] += dx * inv3; F[1] += dy * inv3; F[2] += dz * inv3;
      }
      rv[i].x += dt*F[0]; rv[i].y += dt*F[1]; rv[i].z += dt*F[2];
    }
    for (int i = 0; i < nBodies; i++) { rp[i].x += rv[i].x*dt; rp[i].y += rv[i].y*dt; rp[i].z += rv[i].z*dt; }
  }
  double worst = 0;
  for (int i = 0; i < 8*nBodies; i++) {
    double d = fabs(buf[i] - ref[i]) / (1 + fabs(ref[i]));
    if (!(d <= worst)) worst = d;
  }
  printf("largest relative difference: %g\n", worst);
  free(buf); free(ref);
  hipFree(d_buf);
  if (hipGetLastError() != hipSuccess || !(worst < 1e-3)) { printf("FAILED\n"); return 1; }
  printf("PASSED\n");
  return 0;
}
