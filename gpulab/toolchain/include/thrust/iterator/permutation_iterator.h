// elements[index[0]], elements[index[1]] ...
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Elements, typename Indices>
class permutation_iterator
    : public iterator_adaptor<permutation_iterator<Elements, Indices>, Indices, iterator_value_t<Elements>,
                              detail::common_system<Elements, Indices>, use_default, iterator_reference_t<Elements>> {
  using super = iterator_adaptor<permutation_iterator, Indices, iterator_value_t<Elements>,
                                 detail::common_system<Elements, Indices>, use_default,
                                 iterator_reference_t<Elements>>;
  friend class iterator_core_access;
  static_assert(!std::is_same_v<detail::common_system<Elements, Indices>, detail::mixed_systems>,
                "the elements and the indices of a permutation_iterator belong to one system, host or device");
  Elements first;
  constexpr typename super::reference dereference() const {
    return *(first + static_cast<iterator_value_t<Indices>>(*this->base()));
  }

 public:
  constexpr permutation_iterator() : first() {}
  constexpr permutation_iterator(Elements elements, Indices indices) : super(indices), first(elements) {}
  template <typename E, typename I,
            typename = std::enable_if_t<std::is_convertible_v<E, Elements> && std::is_convertible_v<I, Indices>>>
  constexpr permutation_iterator(const permutation_iterator<E, I>& other)
      : super(other.base()), first(other.elements()) {}
  constexpr const Elements& elements() const { return first; }
};
template <typename Elements, typename Indices>
constexpr permutation_iterator<Elements, Indices> make_permutation_iterator(Elements elements, Indices indices) {
  return permutation_iterator<Elements, Indices>(elements, indices);
}
namespace detail {
template <typename E, typename I>
struct unwrapped<permutation_iterator<E, I>> {
  static auto of(const permutation_iterator<E, I>& it) {
    return permutation_iterator<unwrapped_t<E>, unwrapped_t<I>>(unwrap(it.elements()), unwrap(it.base()));
  }
};
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
