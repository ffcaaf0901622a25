#pragma once
#include <hip/hip_runtime_api.h>
#include <vector>
// counts of values in [0, bins); others are counted in `outside`
hipError_t histogram(const std::vector<int>& values, std::vector<unsigned>& bins, unsigned& outside, hipStream_t stream = nullptr);
