// hipcub::ThreadLoad: a load of one thread with a cache modifier.
#pragma once
#include "../config.hpp"

namespace hipcub {
enum CacheLoadModifier : int32_t {
  LOAD_DEFAULT,
  LOAD_CA,
  LOAD_CG,
  LOAD_NONTEMPORAL,
  LOAD_CS,
  LOAD_CV,
  LOAD_LDG,
  LOAD_VOLATILE
};

// LOAD_CS and LOAD_NONTEMPORAL are the compiler's loads without reuse; LOAD_CV and LOAD_VOLATILE read anew each time.
template <CacheLoadModifier modifier = LOAD_DEFAULT, typename Iterator>
__GPULAB_FUNCTION__ ::gpulab::primitives::element_of<Iterator> ThreadLoad(Iterator iterator) {
  using T = ::gpulab::primitives::element_of<Iterator>;
  if constexpr (__is_pointer(Iterator) && __is_arithmetic(T)) {
    if constexpr (modifier == LOAD_CS || modifier == LOAD_NONTEMPORAL) return __builtin_nontemporal_load(&*iterator);
    if constexpr (modifier == LOAD_CV || modifier == LOAD_VOLATILE) return *const_cast<const volatile T*>(&*iterator);
  }
  return *iterator;
}
}  // namespace hipcub
