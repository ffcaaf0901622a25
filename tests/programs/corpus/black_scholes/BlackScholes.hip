// European options by Black and Scholes' formula
#include <hip/hip_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(cmd) {\
    hipError_t error  = cmd;\
    if (error != hipSuccess) { \
      fprintf(stderr, "error: '%s'(%d) at %s:%d\n", hipGetErrorString(error), error,__FILE__, __LINE__); \
    exit(EXIT_FAILURE);\
    }\
}

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

static double CND(double d) {
  const double A1 = 0.31938153, A2 = -0.356563782, A3 = 1.781477937, A4 = -1.821255978, A5 = 1.330274429;
  const double RSQRT2PI = 0.39894228040143267793994605993438;
  double K = 1.0 / (1.0 + 0.2316419 * fabs(d));
  double cnd = RSQRT2PI * exp(-0.5 * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
  if (d > 0) cnd = 1.0 - cnd;
  return cnd;
}

__device__ inline float cndGPU(float d) {
  const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f, A5 = 1.330274429f;
  const float RSQRT2PI = 0.39894228040143267793994605993438f;
  float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
  float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
  if (d > 0) cnd = 1.0f - cnd;
  return cnd;
}

__global__ __launch_bounds__(128) void BlackScholesGPU(float2 *__restrict d_CallResult, float2 *__restrict d_PutResult,
                                                       const float2 *__restrict d_StockPrice, const float2 *__restrict d_OptionStrike,
                                                       const float2 *__restrict d_OptionYears, float Riskfree, float Volatility,
                                                       int optN) {
  const int opt = blockDim.x * blockIdx.x + threadIdx.x;
  if (opt < (optN / 2)) {
    float call[2], put[2];
    const float S[2] = {d_StockPrice[opt].x, d_StockPrice[opt].y};
    const float X[2] = {d_OptionStrike[opt].x, d_OptionStrike[opt].y};
    const float T[2] = {d_OptionYears[opt].x, d_OptionYears[opt].y};
#pragma unroll
    for (int k = 0; k < 2; k++) {
      float sqrtT = __fsqrt_rn(T[k]);
      float d1 = __fdividef(__logf(S[k] / X[k]) + (Riskfree + 0.5f * Volatility * Volatility) * T[k], Volatility * sqrtT);
      float d2 = d1 - Volatility * sqrtT;
      float CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2);
      float expRT = __expf(-Riskfree * T[k]);
      call[k] = S[k] * CNDD1 - X[k] * expRT * CNDD2;
      put[k] = X[k] * expRT * (1.0f - CNDD2) - S[k] * (1.0f - CNDD1);
    }
    d_CallResult[opt] = make_float2(call[0], call[1]);
    d_PutResult[opt] = make_float2(put[0], put[1]);
  }
}

float RandFloat(float low, float high) {
  float t = (float)rand() / (float)RAND_MAX;
  return (1.0f - t) * low + t * high;
}

int main(int argc, char **argv) {
  const int OPT_N = argc > 1 ? atoi(argv[1]) & ~1 : 40000;
  const int NUM_ITERATIONS = argc > 2 ? atoi(argv[2]) : 4;
  const size_t OPT_SZ = OPT_N * sizeof(float);
  const float RISKFREE = 0.02f, VOLATILITY = 0.30f;
  float *h_call = (float *)malloc(OPT_SZ), *h_put = (float *)malloc(OPT_SZ), *h_S = (float *)malloc(OPT_SZ),
        *h_X = (float *)malloc(OPT_SZ), *h_T = (float *)malloc(OPT_SZ);
  float *d_call, *d_put, *d_S, *d_X, *d_T;
  CHECK(hipMalloc((void **)&d_call, OPT_SZ));
  CHECK(hipMalloc((void **)&d_put, OPT_SZ));
  CHECK(hipMalloc((void **)&d_S, OPT_SZ));
  CHECK(hipMalloc((void **)&d_X, OPT_SZ));
  CHECK(hipMalloc((void **)&d_T, OPT_SZ));
  srand(5347);
  for (int i = 0; i < OPT_N; i++) {
    h_call[i] = 0.0f;
    h_put[i] = -1.0f;
    h_S[i] = RandFloat(5.0f, 30.0f);
    h_X[i] = RandFloat(1.0f, 100.0f);
    h_T[i] = RandFloat(0.25f, 10.0f);
  }
  CHECK(hipMemcpy(d_S, h_S, OPT_SZ, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(d_X, h_X, OPT_SZ, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(d_T, h_T, OPT_SZ, hipMemcpyHostToDevice));
  hipEvent_t start, stop;
  CHECK(hipEventCreate(&start));
  CHECK(hipEventCreate(&stop));
  CHECK(hipDeviceSynchronize());
  CHECK(hipEventRecord(start, NULL));
  for (int i = 0; i < NUM_ITERATIONS; i++) {
    BlackScholesGPU<<<DIV_UP((OPT_N / 2), 128), 128>>>((float2 *)d_call, (float2 *)d_put, (float2 *)d_S, (float2 *)d_X,
                                                       (float2 *)d_T, RISKFREE, VOLATILITY, OPT_N);
    CHECK(hipGetLastError());
  }
  CHECK(hipEventRecord(stop, 0));
  CHECK(hipEventSynchronize(stop));
  float ms;
  CHECK(hipEventElapsedTime(&ms, start, stop));
  printf("Options count             : %i     \n", 2 * OPT_N);
  printf("BlackScholesGPU() time    : %f msec\n", ms / NUM_ITERATIONS);
  printf("Effective memory bandwidth: %f GB/s\n", 5.0 * OPT_N * sizeof(float) * 1e-6 / (ms / NUM_ITERATIONS));
  CHECK(hipMemcpy(h_call, d_call, OPT_SZ, hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(h_put, d_put, OPT_SZ, hipMemcpyDeviceToHost));
  double sum_delta = 0, sum_ref = 0, max_delta = 0, parity = 0;
  for (int i = 0; i < OPT_N; i++) {
    double S = h_S[i], X = h_X[i], T = h_T[i], s = sqrt(T);
    double d1 = (log(S / X) + (RISKFREE + 0.5 * VOLATILITY * VOLATILITY) * T) / (VOLATILITY * s), d2 = d1 - VOLATILITY * s;
    double e = exp(-RISKFREE * T), call = S * CND(d1) - X * e * CND(d2), put = X * e * (1.0 - CND(d2)) - S * (1.0 - CND(d1));
    double delta = fmax(fabs(call - h_call[i]), fabs(put - h_put[i]));
    if (delta > max_delta) max_delta = delta;
    parity = fmax(parity, fabs((double)h_call[i] - h_put[i] - S + X * e));
    sum_delta += fabs(call - h_call[i]);
    sum_ref += fabs(call);
  }
  printf("L1 norm: %E, max absolute error: %E, put-call parity: %E\n", sum_delta / sum_ref, max_delta, parity);
  CHECK(hipFree(d_call));
  CHECK(hipFree(d_put));
  CHECK(hipFree(d_S));
  CHECK(hipFree(d_X));
  CHECK(hipFree(d_T));
  CHECK(hipEventDestroy(start));
  CHECK(hipEventDestroy(stop));
  if (sum_delta / sum_ref > 1e-6 || max_delta > 1e-4 || parity > 1e-4 || ms <= 0) {
    printf("Test failed!\n");
    exit(EXIT_FAILURE);
  }
  printf("Test passed\n");
  exit(EXIT_SUCCESS);
}
