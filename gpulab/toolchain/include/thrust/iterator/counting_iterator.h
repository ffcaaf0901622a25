// n, n + 1, n + 2 ...
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Incrementable, typename System = use_default, typename Traversal = use_default,
          typename Difference = use_default>
class counting_iterator
    : public iterator_adaptor<counting_iterator<Incrementable, System, Traversal, Difference>, Incrementable,
                              Incrementable, detail::or_default<System, any_system_tag>,
                              detail::or_default<Traversal, std::random_access_iterator_tag>, Incrementable,
                              detail::or_default<Difference, ptrdiff_t>> {
  using super = iterator_adaptor<counting_iterator, Incrementable, Incrementable,
                                 detail::or_default<System, any_system_tag>,
                                 detail::or_default<Traversal, std::random_access_iterator_tag>, Incrementable,
                                 detail::or_default<Difference, ptrdiff_t>>;
  friend class iterator_core_access;
  constexpr Incrementable dereference() const { return this->base(); }
  constexpr void advance(typename super::difference_type n) {
    this->base_reference() = static_cast<Incrementable>(this->base() + n);
  }
  template <typename Other>
  constexpr typename super::difference_type distance_to(const Other& other) const {
    using difference = typename super::difference_type;
    if constexpr (std::is_integral_v<Incrementable>)
      return static_cast<difference>(other.base()) - static_cast<difference>(this->base());
    else
      return static_cast<difference>(other.base() - this->base());
  }

 public:
  constexpr counting_iterator() = default;
  constexpr explicit counting_iterator(Incrementable from) : super(from) {}
};
template <typename Incrementable>
constexpr counting_iterator<Incrementable> make_counting_iterator(Incrementable from) {
  return counting_iterator<Incrementable>(from);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
