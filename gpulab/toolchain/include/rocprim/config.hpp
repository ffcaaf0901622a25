// rocPRIM for gpulab: macros, and the configurations that calls accept. docs/primitives.md says what there is.
#pragma once
#include "../gpulab/primitives/operators.h"

#define ROCPRIM_VERSION 400200
#define ROCPRIM_VERSION_MAJOR 4
#define ROCPRIM_VERSION_MINOR 2
#define ROCPRIM_VERSION_PATCH 0
#define ROCPRIM_DEVICE __device__
#define ROCPRIM_HOST __host__
#define ROCPRIM_HOST_DEVICE __host__ __device__
#define ROCPRIM_SHARED_MEMORY __shared__
#define ROCPRIM_KERNEL __global__
#define ROCPRIM_INLINE inline
#define ROCPRIM_FORCE_INLINE __forceinline__
#define ROCPRIM_HIP_API 1
#define ROCPRIM_WARP_SIZE_32 32u
#define ROCPRIM_WARP_SIZE_64 64u
#define ROCPRIM_MAX_WARP_SIZE 64u
#define BEGIN_ROCPRIM_NAMESPACE namespace rocprim {
#define END_ROCPRIM_NAMESPACE }

namespace rocprim {
// A configuration says how a kernel of rocPRIM is cut for a device. Here it is accepted and changes nothing: results do
// not depend on it.
struct default_config {};
template <unsigned int BlockSize, unsigned int ItemsPerThread, unsigned int SizeLimit = ~0u>
struct kernel_config {
  static constexpr unsigned int block_size = BlockSize, items_per_thread = ItemsPerThread, size_limit = SizeLimit;
};
#define __GPULAB_CONFIGURATION__(name) \
  template <auto... values>            \
  struct name {};
__GPULAB_CONFIGURATION__(reduce_config)
__GPULAB_CONFIGURATION__(scan_config)
__GPULAB_CONFIGURATION__(scan_by_key_config)
__GPULAB_CONFIGURATION__(reduce_by_key_config)
__GPULAB_CONFIGURATION__(merge_sort_config)
__GPULAB_CONFIGURATION__(select_config)
__GPULAB_CONFIGURATION__(partition_config)
__GPULAB_CONFIGURATION__(transform_config)
__GPULAB_CONFIGURATION__(binary_search_config)
__GPULAB_CONFIGURATION__(lower_bound_config)
__GPULAB_CONFIGURATION__(upper_bound_config)
__GPULAB_CONFIGURATION__(merge_config)
__GPULAB_CONFIGURATION__(adjacent_difference_config)
__GPULAB_CONFIGURATION__(find_first_of_config)
__GPULAB_CONFIGURATION__(nth_element_config)
#undef __GPULAB_CONFIGURATION__
template <typename... Parts>
struct radix_sort_config {};
template <typename... Parts>
struct segmented_radix_sort_config {};
template <typename... Parts>
struct histogram_config {};
template <typename... Parts>
struct run_length_encode_config {};
}  // namespace rocprim
