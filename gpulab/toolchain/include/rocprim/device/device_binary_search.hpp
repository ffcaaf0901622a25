// rocPRIM's binary searches of many values in sorted items.
#pragma once
#include "../../gpulab/primitives/search.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Haystack, typename Needles, typename Output,
          typename Compare = less<gpulab_::element_of<Haystack>>>
hipError_t lower_bound(void* temporary, size_t& bytes, Haystack haystack, Needles needles, Output output,
                       size_t haystack_size, size_t needles_size, Compare compare = Compare(),
                       hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::search_sorted<gpulab_::Bound::lower>(temporary, bytes, haystack, needles, output,
                                                                      haystack_size, needles_size, compare, stream),
                        stream, debug);
}

template <typename Config = default_config, typename Haystack, typename Needles, typename Output,
          typename Compare = less<gpulab_::element_of<Haystack>>>
hipError_t upper_bound(void* temporary, size_t& bytes, Haystack haystack, Needles needles, Output output,
                       size_t haystack_size, size_t needles_size, Compare compare = Compare(),
                       hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::search_sorted<gpulab_::Bound::upper>(temporary, bytes, haystack, needles, output,
                                                                      haystack_size, needles_size, compare, stream),
                        stream, debug);
}

template <typename Config = default_config, typename Haystack, typename Needles, typename Output,
          typename Compare = less<gpulab_::element_of<Haystack>>>
hipError_t binary_search(void* temporary, size_t& bytes, Haystack haystack, Needles needles, Output output,
                         size_t haystack_size, size_t needles_size, Compare compare = Compare(),
                         hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::search_sorted<gpulab_::Bound::found>(temporary, bytes, haystack, needles, output,
                                                                      haystack_size, needles_size, compare, stream),
                        stream, debug);
}
}  // namespace rocprim
