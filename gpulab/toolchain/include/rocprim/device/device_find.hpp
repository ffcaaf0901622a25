// rocPRIM's searches for a place: find_first_of, find_end, search, search_n, adjacent_find. None gives the size.
#pragma once
#include "../../gpulab/primitives/search.h"
#include "../iterators.hpp"

namespace rocprim {

// The first item that equals one of the keys.
template <typename Config = default_config, typename Input, typename Keys, typename Output,
          typename Equality = equal_to<gpulab_::element_of<Input>>>
hipError_t find_first_of(void* temporary, size_t& bytes, Input input, Keys keys, Output output, size_t size,
                         size_t keys_size, Equality equality = Equality(), hipStream_t stream = nullptr,
                         bool debug = false) {
  return gpulab_::ended(
      temporary,
      gpulab_::find_first(temporary, bytes, gpulab_::IsOneOf<Input, Keys, Equality>{input, keys, keys_size, equality},
                          output, size, size, stream),
      stream, debug);
}
// Where all keys stand, one behind the other, for the first and for the last time.
template <typename Config = default_config, typename Input, typename Keys, typename Output,
          typename Equality = equal_to<gpulab_::element_of<Input>>>
hipError_t search(void* temporary, size_t& bytes, Input input, Keys keys, Output output, size_t size, size_t keys_size,
                  Equality equality = Equality(), hipStream_t stream = nullptr, bool debug = false) {
  size_t places = keys_size > size ? 0 : size - keys_size + 1;
  return gpulab_::ended(
      temporary,
      gpulab_::find_first(temporary, bytes, gpulab_::StandsAt<Input, Keys, Equality>{input, keys, keys_size, equality},
                          output, places, size, stream),
      stream, debug);
}
template <typename Config = default_config, typename Input, typename Keys, typename Output,
          typename Equality = equal_to<gpulab_::element_of<Input>>>
hipError_t find_end(void* temporary, size_t& bytes, Input input, Keys keys, Output output, size_t size,
                    size_t keys_size, Equality equality = Equality(), hipStream_t stream = nullptr,
                    bool debug = false) {
  size_t places = keys_size > size || keys_size == 0 ? 0 : size - keys_size + 1;
  return gpulab_::ended(
      temporary,
      gpulab_::find_last(temporary, bytes, gpulab_::StandsAt<Input, Keys, Equality>{input, keys, keys_size, equality},
                         output, places, size, stream),
      stream, debug);
}
// The first of `count` neighbours that equal the value, which is in the device's memory.
template <typename Config = default_config, typename Input, typename Output, typename T,
          typename Equality = equal_to<gpulab_::element_of<Input>>>
hipError_t search_n(void* temporary, size_t& bytes, Input input, Output output, size_t size, size_t count,
                    const T* value, Equality equality = Equality(), hipStream_t stream = nullptr, bool debug = false) {
  size_t places = count > size ? 0 : size - count + 1;
  using Value = gpulab_::Future<T, const T*>;
  return gpulab_::ended(
      temporary,
      gpulab_::find_first(temporary, bytes,
                          gpulab_::RepeatsAt<Input, Value, Equality>{input, Value(value), count, equality}, output,
                          places, size, stream),
      stream, debug);
}
// The first item that the operator finds equal to the one behind it.
template <typename Config = default_config, typename Input, typename Output,
          typename Op = equal_to<gpulab_::element_of<Input>>>
hipError_t adjacent_find(void* temporary, size_t& bytes, Input input, Output output, size_t size, Op op = Op(),
                         hipStream_t stream = nullptr, bool debug = false) {
  return gpulab_::ended(temporary,
                        gpulab_::find_first(temporary, bytes, gpulab_::EqualsNext<Input, Op>{input, op}, output,
                                            size == 0 ? 0 : size - 1, size, stream),
                        stream, debug);
}
}  // namespace rocprim
