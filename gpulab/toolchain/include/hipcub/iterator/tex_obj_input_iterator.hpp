// hipcub::TexObjInputIterator is refused: a name and a message.
#pragma once
#include "../config.hpp"

namespace hipcub {
template <typename T, typename Offset = ptrdiff_t>
struct TexObjInputIterator {
  static_assert(sizeof(T) == 0,
                "gpulab: hipcub::TexObjInputIterator is not supported: gfx942 has no texture unit; "
                "a plain pointer or CacheModifiedInputIterator<LOAD_LDG, T> reads the same memory");
};
}  // namespace hipcub
