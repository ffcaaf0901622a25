// hipcub::ThreadStore: a store of one thread with a cache modifier.
#pragma once
#include "../config.hpp"

namespace hipcub {
enum CacheStoreModifier : int32_t {
  STORE_DEFAULT,
  STORE_WB,
  STORE_CG,
  STORE_NONTEMPORAL,
  STORE_CS,
  STORE_WT,
  STORE_VOLATILE
};

template <CacheStoreModifier modifier = STORE_DEFAULT, typename Iterator, typename T>
__GPULAB_FUNCTION__ void ThreadStore(Iterator iterator, T value) {
  if constexpr (__is_pointer(Iterator) && __is_arithmetic(T)) {
    using U = ::gpulab::primitives::element_of<Iterator>;
    if constexpr (modifier == STORE_CS || modifier == STORE_NONTEMPORAL) {
      __builtin_nontemporal_store(static_cast<U>(value), &*iterator);
      return;
    }
    if constexpr (modifier == STORE_VOLATILE) {
      *const_cast<volatile U*>(&*iterator) = static_cast<U>(value);
      return;
    }
  }
  *iterator = value;
}
}  // namespace hipcub
