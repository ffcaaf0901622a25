#include "filter.h"
#include <hip/hip_runtime.h>
#include <string>

#define MAX_TAPS 64
static __constant__ float taps[MAX_TAPS];

struct filter {
  int n;
  float host_taps[MAX_TAPS];
  std::string message;
  bool ok(hipError_t e) {
    if (e != hipSuccess) message = hipGetErrorString(e);
    return e == hipSuccess;
  }
};

__global__ static void fir(const float *in, float *out, int n, int count) {
  extern __shared__ float window[];
  const int base = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < (int)blockDim.x + count - 1; i += blockDim.x) {
    const int at = base + i - (count - 1);
    window[i] = at >= 0 && at < n ? in[at] : 0.0f;
  }
  __syncthreads();
  const int i = base + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < count; ++k) sum += taps[k] * window[threadIdx.x + count - 1 - k];
  out[i] = sum;
}

filter_t *filter_create(const float *t, int n) {
  if (n < 1 || n > MAX_TAPS) return nullptr;
  filter_t *f = new filter_t{n, {}, {}};
  for (int i = 0; i < n; ++i) f->host_taps[i] = t[i];
  return f;
}

int filter_run(filter_t *f, const float *in, float *out, int n) {
  float *d_in = nullptr, *d_out = nullptr;
  bool good = f->ok(hipMemcpyToSymbol(HIP_SYMBOL(taps), f->host_taps, f->n * sizeof(float))) && f->ok(hipMalloc(&d_in, n * sizeof(float))) &&
              f->ok(hipMalloc(&d_out, n * sizeof(float))) && f->ok(hipMemcpy(d_in, in, n * sizeof(float), hipMemcpyHostToDevice));
  if (good) {
    fir<<<(n + 127) / 128, 128, (128 + f->n - 1) * sizeof(float)>>>(d_in, d_out, n, f->n);
    good = f->ok(hipGetLastError()) && f->ok(hipMemcpy(out, d_out, n * sizeof(float), hipMemcpyDeviceToHost));
  }
  (void)hipFree(d_in);
  (void)hipFree(d_out);
  return good ? 0 : -1;
}

const char *filter_error(const filter_t *f) { return f->message.c_str(); }
void filter_destroy(filter_t *f) { delete f; }
