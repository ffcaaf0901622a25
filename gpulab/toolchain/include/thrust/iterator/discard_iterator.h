// An output whose values nobody wants.
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
struct discarded {
  template <typename T>
  constexpr const discarded& operator=(const T&) const {
    return *this;
  }
};
}  // namespace detail
template <typename System = use_default>
class discard_iterator
    : public iterator_adaptor<discard_iterator<System>, ptrdiff_t, detail::discarded,
                              detail::or_default<System, any_system_tag>, std::random_access_iterator_tag,
                              detail::discarded, ptrdiff_t> {
  using super = iterator_adaptor<discard_iterator, ptrdiff_t, detail::discarded,
                                 detail::or_default<System, any_system_tag>, std::random_access_iterator_tag,
                                 detail::discarded, ptrdiff_t>;
  friend class iterator_core_access;
  constexpr detail::discarded dereference() const { return {}; }

 public:
  constexpr discard_iterator(ptrdiff_t from = 0) : super(from) {}
};
constexpr discard_iterator<> make_discard_iterator(ptrdiff_t from = 0) { return discard_iterator<>(from); }
}  // namespace thrust
#pragma clang force_cuda_host_device end
