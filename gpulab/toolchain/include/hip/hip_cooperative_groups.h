// The place of cooperative groups in gpulab.
#pragma once
#error "hip/hip_cooperative_groups.h: cooperative groups are not in this version of gpulab. Until then use __syncthreads(), and the __shfl and __ballot families within a wavefront."
