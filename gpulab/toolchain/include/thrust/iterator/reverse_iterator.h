// Backwards.
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Iterator>
class reverse_iterator : public iterator_adaptor<reverse_iterator<Iterator>, Iterator> {
  using super = iterator_adaptor<reverse_iterator, Iterator>;
  friend class iterator_core_access;
  constexpr typename super::reference dereference() const {
    Iterator before = this->base();
    return *--before;
  }
  constexpr void increment() { --this->base_reference(); }
  constexpr void decrement() { ++this->base_reference(); }
  constexpr void advance(typename super::difference_type n) { this->base_reference() += -n; }
  template <typename Other>
  constexpr typename super::difference_type distance_to(const Other& other) const {
    return this->base() - other.base();
  }

 public:
  constexpr reverse_iterator() = default;
  constexpr explicit reverse_iterator(Iterator base) : super(base) {}
  template <typename Other, typename = std::enable_if_t<std::is_convertible_v<Other, Iterator>>>
  constexpr reverse_iterator(const reverse_iterator<Other>& other) : super(other.base()) {}
};
template <typename Iterator>
constexpr reverse_iterator<Iterator> make_reverse_iterator(Iterator base) {
  return reverse_iterator<Iterator>(base);
}
namespace detail {
template <typename I>
struct unwrapped<reverse_iterator<I>> {
  static auto of(const reverse_iterator<I>& it) { return reverse_iterator<unwrapped_t<I>>(unwrap(it.base())); }
};
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
