// rocPRIM's types.
#pragma once
#include "../gpulab/primitives/keys.h"
#include "../gpulab/primitives/tuple.h"
#include "config.hpp"

namespace rocprim {
using half = ::__half;
using bfloat16 = ::hip_bfloat16;
using native_half = _Float16;
using native_bfloat16 = ::hip_bfloat16;
using int128_t = __int128;
using uint128_t = unsigned __int128;
using empty_type = ::gpulab::primitives::NoValues;
template <typename Key, typename Value>
using key_value_pair = ::gpulab::primitives::KeyValue<Key, Value>;
template <typename T, typename Iterator = T*>
using future_value = ::gpulab::primitives::Future<T, Iterator>;

template <typename... Ts>
using tuple = ::gpulab::primitives::Tuple<Ts...>;
using ::gpulab::primitives::get;
using ::gpulab::primitives::make_tuple;
using ::gpulab::primitives::tie;
using ::gpulab::primitives::tuple_element;
using ::gpulab::primitives::tuple_size;
template <size_t index, typename T>
using tuple_element_t = typename tuple_element<index, T>::type;

// Two buffers of which one holds the data.
template <typename T>
class double_buffer {
  T* buffers_[2];
  unsigned int selector_ = 0;

 public:
  __GPULAB_MEMBER__ double_buffer() : buffers_{nullptr, nullptr} {}
  __GPULAB_MEMBER__ double_buffer(T* current, T* alternate) : buffers_{current, alternate} {}
  __GPULAB_MEMBER__ T* current() const { return buffers_[selector_]; }
  __GPULAB_MEMBER__ T* alternate() const { return buffers_[selector_ ^ 1]; }
  __GPULAB_MEMBER__ void swap() { selector_ ^= 1; }
};
}  // namespace rocprim
