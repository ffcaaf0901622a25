// rocPRIM's radix sorts of segments.
#pragma once
#include "../../gpulab/primitives/segmented_sort.h"
#include "../iterators.hpp"

namespace rocprim {

template <typename Config = default_config, typename Key, typename Begins, typename Ends>
hipError_t segmented_radix_sort_keys(void* temporary, size_t& bytes, const Key* input, Key* output, unsigned int size,
                                     unsigned int segments, Begins begins, Ends ends, unsigned int begin_bit = 0,
                                     unsigned int end_bit = 8 * sizeof(Key), hipStream_t stream = nullptr,
                                     bool debug = false) {
  gpulab_::SortBuffers<Key, gpulab_::NoValues> buffers{input, output, nullptr, nullptr};
  return gpulab_::ended(temporary,
                        gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                                end_bit, gpulab_::RadixKey<Key, false>{}, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Key, typename Value, typename Begins, typename Ends>
hipError_t segmented_radix_sort_pairs(void* temporary, size_t& bytes, const Key* keys_input, Key* keys_output,
                                      const Value* values_input, Value* values_output, unsigned int size,
                                      unsigned int segments, Begins begins, Ends ends, unsigned int begin_bit = 0,
                                      unsigned int end_bit = 8 * sizeof(Key), hipStream_t stream = nullptr,
                                      bool debug = false) {
  gpulab_::SortBuffers<Key, Value> buffers{keys_input, keys_output, values_input, values_output};
  return gpulab_::ended(temporary,
                        gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                                end_bit, gpulab_::RadixKey<Key, false>{}, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Key, typename Begins, typename Ends>
hipError_t segmented_radix_sort_keys(void* temporary, size_t& bytes, double_buffer<Key>& keys, unsigned int size,
                                     unsigned int segments, Begins begins, Ends ends, unsigned int begin_bit = 0,
                                     unsigned int end_bit = 8 * sizeof(Key), hipStream_t stream = nullptr,
                                     bool debug = false) {
  gpulab_::SortBuffers<Key, gpulab_::NoValues> buffers{keys.current(), keys.alternate(), nullptr, nullptr, true};
  hipError_t result = gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                              end_bit, gpulab_::RadixKey<Key, false>{}, stream);
  if (temporary != nullptr && result == hipSuccess && buffers.flipped) keys.swap();
  return gpulab_::ended(temporary, result, stream, debug);
}
template <typename Config = default_config, typename Key, typename Value, typename Begins, typename Ends>
hipError_t segmented_radix_sort_pairs(void* temporary, size_t& bytes, double_buffer<Key>& keys,
                                      double_buffer<Value>& values, unsigned int size, unsigned int segments,
                                      Begins begins, Ends ends, unsigned int begin_bit = 0,
                                      unsigned int end_bit = 8 * sizeof(Key), hipStream_t stream = nullptr,
                                      bool debug = false) {
  gpulab_::SortBuffers<Key, Value> buffers{keys.current(), keys.alternate(), values.current(), values.alternate(),
                                           true};
  hipError_t result = gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                              end_bit, gpulab_::RadixKey<Key, false>{}, stream);
  if (temporary != nullptr && result == hipSuccess && buffers.flipped) {
    keys.swap();
    values.swap();
  }
  return gpulab_::ended(temporary, result, stream, debug);
}

template <typename Config = default_config, typename Key, typename Begins, typename Ends>
hipError_t segmented_radix_sort_keys_desc(void* temporary, size_t& bytes, const Key* input, Key* output,
                                          unsigned int size, unsigned int segments, Begins begins, Ends ends,
                                          unsigned int begin_bit = 0, unsigned int end_bit = 8 * sizeof(Key),
                                          hipStream_t stream = nullptr, bool debug = false) {
  gpulab_::SortBuffers<Key, gpulab_::NoValues> buffers{input, output, nullptr, nullptr};
  return gpulab_::ended(temporary,
                        gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                                end_bit, gpulab_::RadixKey<Key, true>{}, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Key, typename Value, typename Begins, typename Ends>
hipError_t segmented_radix_sort_pairs_desc(void* temporary, size_t& bytes, const Key* keys_input, Key* keys_output,
                                           const Value* values_input, Value* values_output, unsigned int size,
                                           unsigned int segments, Begins begins, Ends ends, unsigned int begin_bit = 0,
                                           unsigned int end_bit = 8 * sizeof(Key), hipStream_t stream = nullptr,
                                           bool debug = false) {
  gpulab_::SortBuffers<Key, Value> buffers{keys_input, keys_output, values_input, values_output};
  return gpulab_::ended(temporary,
                        gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                                end_bit, gpulab_::RadixKey<Key, true>{}, stream),
                        stream, debug);
}
template <typename Config = default_config, typename Key, typename Begins, typename Ends>
hipError_t segmented_radix_sort_keys_desc(void* temporary, size_t& bytes, double_buffer<Key>& keys, unsigned int size,
                                          unsigned int segments, Begins begins, Ends ends, unsigned int begin_bit = 0,
                                          unsigned int end_bit = 8 * sizeof(Key), hipStream_t stream = nullptr,
                                          bool debug = false) {
  gpulab_::SortBuffers<Key, gpulab_::NoValues> buffers{keys.current(), keys.alternate(), nullptr, nullptr, true};
  hipError_t result = gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                              end_bit, gpulab_::RadixKey<Key, true>{}, stream);
  if (temporary != nullptr && result == hipSuccess && buffers.flipped) keys.swap();
  return gpulab_::ended(temporary, result, stream, debug);
}
template <typename Config = default_config, typename Key, typename Value, typename Begins, typename Ends>
hipError_t segmented_radix_sort_pairs_desc(void* temporary, size_t& bytes, double_buffer<Key>& keys,
                                           double_buffer<Value>& values, unsigned int size, unsigned int segments,
                                           Begins begins, Ends ends, unsigned int begin_bit = 0,
                                           unsigned int end_bit = 8 * sizeof(Key), hipStream_t stream = nullptr,
                                           bool debug = false) {
  gpulab_::SortBuffers<Key, Value> buffers{keys.current(), keys.alternate(), values.current(), values.alternate(),
                                           true};
  hipError_t result = gpulab_::segmented_sort(temporary, bytes, buffers, size, segments, begins, ends, begin_bit,
                                              end_bit, gpulab_::RadixKey<Key, true>{}, stream);
  if (temporary != nullptr && result == hipSuccess && buffers.flipped) {
    keys.swap();
    values.swap();
  }
  return gpulab_::ended(temporary, result, stream, debug);
}
}  // namespace rocprim
