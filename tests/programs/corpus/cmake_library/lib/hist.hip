#include "hist.h"
#include <hip/hip_runtime.h>

#ifndef HIST_BINS
#error HIST_BINS must be defined by the build
#endif

__global__ void count(const int* __restrict__ v, size_t n, unsigned* __restrict__ bins, unsigned* outside) {
  __shared__ unsigned local[HIST_BINS];
  for (unsigned i = threadIdx.x; i < HIST_BINS; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    if (v[i] >= 0 && v[i] < HIST_BINS) atomicAdd(&local[v[i]], 1u);
    else atomicAdd(outside, 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < HIST_BINS; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

hipError_t histogram(const std::vector<int>& values, std::vector<unsigned>& bins, unsigned& outside, hipStream_t stream) {
  int* d_values = nullptr;
  unsigned* d_bins = nullptr;
  bins.assign(HIST_BINS, 0);
  hipError_t e = hipMallocAsync(reinterpret_cast<void**>(&d_values), values.size() * sizeof(int), stream);
  if (e == hipSuccess) e = hipMallocAsync(reinterpret_cast<void**>(&d_bins), (HIST_BINS + 1) * sizeof(unsigned), stream);
  if (e == hipSuccess) e = hipMemsetAsync(d_bins, 0, (HIST_BINS + 1) * sizeof(unsigned), stream);
  if (e == hipSuccess) e = hipMemcpyAsync(d_values, values.data(), values.size() * sizeof(int), hipMemcpyHostToDevice, stream);
  if (e == hipSuccess) {
    count<<<8, 128, 0, stream>>>(d_values, values.size(), d_bins, d_bins + HIST_BINS);
    e = hipGetLastError();
  }
  if (e == hipSuccess) e = hipMemcpyAsync(bins.data(), d_bins, HIST_BINS * sizeof(unsigned), hipMemcpyDeviceToHost, stream);
  if (e == hipSuccess) e = hipMemcpyAsync(&outside, d_bins + HIST_BINS, sizeof outside, hipMemcpyDeviceToHost, stream);
  if (d_values) (void)hipFreeAsync(d_values, stream);
  if (d_bins) (void)hipFreeAsync(d_bins, stream);
  return e == hipSuccess ? hipStreamSynchronize(stream) : e;
}
