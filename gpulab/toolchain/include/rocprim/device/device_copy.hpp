// rocPRIM's copies of many ranges by one call.
#pragma once
#include "../../gpulab/primitives/batched.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Sources, typename Targets, typename Sizes>
hipError_t batch_copy(void* temporary, size_t& bytes, Sources sources, Targets destinations, Sizes sizes,
                      unsigned int num_copies, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::copy_ranges<false>(temporary, bytes, sources, destinations, sizes, num_copies, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Sources, typename Targets, typename Sizes>
hipError_t batch_memcpy(void* temporary, size_t& bytes, Sources sources, Targets destinations, Sizes sizes,
                        unsigned int num_copies, hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::copy_ranges<true>(temporary, bytes, sources, destinations, sizes, num_copies, stream),
                        stream, debug);
}
}  // namespace rocprim
