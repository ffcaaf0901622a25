#pragma once
#include <hip/hip_runtime_api.h>
#include <vector>
// counts of values in [0, bins); others are counted in `outside`
hipError_t histogram(const std::vector<int>& values, std::vector<unsigned>& bins, unsigned& outside, hipStream_t stream = nullptr);
// the shares of values at or below each bin, of those that were counted: the last is 1 (0 if there are none)
hipError_t shares(const std::vector<unsigned>& bins, std::vector<float>& below, hipStream_t stream = nullptr);
// the first bin at or below which `share` of the values lie
int quantile(const std::vector<float>& below, float share);
