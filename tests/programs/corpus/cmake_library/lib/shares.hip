#include "hist.h"
#include <hip/hip_runtime.h>

// One workgroup: sums of all counts up to each, by doubling distances, divided by the last of them
__global__ void accumulate(const unsigned* __restrict__ bins, float* __restrict__ below) {
  __shared__ unsigned sums[2][HIST_BINS];
  const int i = threadIdx.x;
  int from = 0;
  sums[0][i] = bins[i];
  __syncthreads();
  for (int distance = 1; distance < HIST_BINS; distance *= 2, from ^= 1) {
    sums[from ^ 1][i] = sums[from][i] + (i >= distance ? sums[from][i - distance] : 0u);
    __syncthreads();
  }
  const unsigned total = sums[from][HIST_BINS - 1];
  below[i] = total ? float(sums[from][i]) / float(total) : 0.0f;
}

hipError_t shares(const std::vector<unsigned>& bins, std::vector<float>& below, hipStream_t stream) {
  if (bins.size() != HIST_BINS) return hipErrorInvalidValue;
  unsigned* d_bins = nullptr;
  float* d_below = nullptr;
  below.assign(HIST_BINS, 0);
  hipError_t e = hipMallocAsync(reinterpret_cast<void**>(&d_bins), HIST_BINS * sizeof(unsigned), stream);
  if (e == hipSuccess) e = hipMallocAsync(reinterpret_cast<void**>(&d_below), HIST_BINS * sizeof(float), stream);
  if (e == hipSuccess) e = hipMemcpyAsync(d_bins, bins.data(), HIST_BINS * sizeof(unsigned), hipMemcpyHostToDevice, stream);
  if (e == hipSuccess) {
    accumulate<<<1, HIST_BINS, 0, stream>>>(d_bins, d_below);
    e = hipGetLastError();
  }
  if (e == hipSuccess) e = hipMemcpyAsync(below.data(), d_below, HIST_BINS * sizeof(float), hipMemcpyDeviceToHost, stream);
  if (d_bins) (void)hipFreeAsync(d_bins, stream);
  if (d_below) (void)hipFreeAsync(d_below, stream);
  return e == hipSuccess ? hipStreamSynchronize(stream) : e;
}

int quantile(const std::vector<float>& below, float share) {
  for (size_t i = 0; i < below.size(); ++i)
    if (below[i] >= share) return int(i);
  return -1;
}
