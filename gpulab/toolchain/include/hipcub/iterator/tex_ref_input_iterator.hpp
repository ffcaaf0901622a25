// hipcub::TexRefInputIterator is refused: a name and a message.
#pragma once
#include "../config.hpp"

namespace hipcub {
template <typename T, int UNIQUE_ID, typename Offset = ptrdiff_t>
struct TexRefInputIterator {
  static_assert(sizeof(T) == 0,
                "gpulab: hipcub::TexRefInputIterator is not supported: gfx942 has no texture unit; "
                "a plain pointer or CacheModifiedInputIterator<LOAD_LDG, T> reads the same memory");
};
}  // namespace hipcub
