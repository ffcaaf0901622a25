// hipCUB's functions that load the items of a thread: blocked, striped over the block, striped over each wave.
#pragma once
#include "../collective.hpp"

namespace hipcub {
namespace collective {
struct BlockedFrom {
  unsigned int first;
  __GPULAB_DEVICE_MEMBER__ unsigned int operator()(unsigned int i) const { return first + i; }
};
template <unsigned int threads>
struct StripedFrom {
  unsigned int first;
  __GPULAB_DEVICE_MEMBER__ unsigned int operator()(unsigned int i) const { return first + i * threads; }
};
template <unsigned int count>
__GPULAB_FUNCTION__ StripedFrom<::gpulab::primitives::wave_size> wave_striped(unsigned int thread) {
  constexpr unsigned int lanes = ::gpulab::primitives::wave_size;
  return {thread / lanes * lanes * count + thread % lanes};
}
}  // namespace collective

#define __GPULAB_LOADS__(Name, parameters, place)                                                             \
  template <parameters typename T, int count, typename Input>                                                 \
  __GPULAB_FUNCTION__ void Name(int thread, Input in, T(&items)[count]) {                                     \
    ::gpulab::primitives::load_items(in, items, place);                                                       \
  }                                                                                                           \
  template <parameters typename T, int count, typename Input>                                                 \
  __GPULAB_FUNCTION__ void Name(int thread, Input in, T(&items)[count], int valid_items) {                    \
    ::gpulab::primitives::load_items(in, items, static_cast<unsigned int>(valid_items), place);               \
  }                                                                                                           \
  template <parameters typename T, typename Default, int count, typename Input>                               \
  __GPULAB_FUNCTION__ void Name(int thread, Input in, T(&items)[count], int valid_items, Default otherwise) { \
    for (int i = 0; i < count; ++i) items[i] = otherwise;                                                     \
    ::gpulab::primitives::load_items(in, items, static_cast<unsigned int>(valid_items), place);               \
  }
#define __GPULAB_THREADS__ int BLOCK_THREADS,
__GPULAB_LOADS__(LoadDirectBlocked, , (collective::BlockedFrom{static_cast<unsigned int>(thread) * count}))
__GPULAB_LOADS__(LoadDirectStriped, __GPULAB_THREADS__,
                 (collective::StripedFrom<BLOCK_THREADS>{static_cast<unsigned int>(thread)}))
__GPULAB_LOADS__(LoadDirectWarpStriped, , (collective::wave_striped<count>(static_cast<unsigned int>(thread))))
#undef __GPULAB_LOADS__
template <typename T, int count, typename U>
__GPULAB_FUNCTION__ void LoadDirectBlockedVectorized(int thread, U* in, T (&items)[count]) {
  LoadDirectBlocked(thread, in, items);
}
}  // namespace hipcub
