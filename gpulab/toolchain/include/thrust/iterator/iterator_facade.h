// Iterators made of a few functions: dereference, equal, increment, decrement, advance, distance_to.
#pragma once
#include "iterator_traits.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
/// The friend that may call an iterator's private functions.
class iterator_core_access {
 public:
  template <typename I>
  static constexpr decltype(auto) dereference(const I& it) {
    return it.dereference();
  }
  template <typename I>
  static constexpr void increment(I& it) {
    it.increment();
  }
  template <typename I>
  static constexpr void decrement(I& it) {
    it.decrement();
  }
  template <typename I, typename N>
  static constexpr void advance(I& it, N n) {
    it.advance(n);
  }
  template <typename I, typename J>
  static constexpr bool equal(const I& a, const J& b) {
    return a.equal(b);
  }
  template <typename I, typename J>
  static constexpr auto distance(const I& from, const J& to) {
    return from.distance_to(to);
  }
};

namespace detail {
template <typename T>
struct arrow {
  T value;
  const T* operator->() const { return &value; }
};
}  // namespace detail

template <typename Derived, typename Value, typename System, typename Traversal, typename Reference,
          typename Difference = ptrdiff_t>
class iterator_facade {
  constexpr Derived& self() { return static_cast<Derived&>(*this); }
  constexpr const Derived& self() const { return static_cast<const Derived&>(*this); }

 public:
  using value_type = std::remove_cv_t<Value>;
  using reference = Reference;
  using difference_type = Difference;
  using pointer = std::conditional_t<std::is_lvalue_reference_v<Reference>, std::add_pointer_t<Reference>,
                                     detail::arrow<value_type>>;
  using iterator_category = Traversal;
  using thrust_system = System;

  constexpr reference operator*() const { return iterator_core_access::dereference(self()); }
  constexpr pointer operator->() const {
    if constexpr (std::is_lvalue_reference_v<Reference>)
      return &*self();
    else
      return {static_cast<value_type>(*self())};
  }
  template <typename N>
  constexpr reference operator[](N n) const {
    Derived moved = self();
    iterator_core_access::advance(moved, static_cast<Difference>(n));
    return *moved;
  }
  constexpr Derived& operator++() {
    iterator_core_access::increment(self());
    return self();
  }
  constexpr Derived operator++(int) {
    Derived before = self();
    ++*this;
    return before;
  }
  constexpr Derived& operator--() {
    iterator_core_access::decrement(self());
    return self();
  }
  constexpr Derived operator--(int) {
    Derived before = self();
    --*this;
    return before;
  }
  constexpr Derived& operator+=(Difference n) {
    iterator_core_access::advance(self(), n);
    return self();
  }
  constexpr Derived& operator-=(Difference n) {
    iterator_core_access::advance(self(), -n);
    return self();
  }
  constexpr Derived operator-(Difference n) const {
    Derived moved = self();
    iterator_core_access::advance(moved, -n);
    return moved;
  }
};

template <typename D, typename V, typename S, typename T, typename R, typename N>
constexpr D operator+(const iterator_facade<D, V, S, T, R, N>& it, std::common_type_t<N> n) {
  D moved = static_cast<const D&>(it);
  iterator_core_access::advance(moved, n);
  return moved;
}
template <typename D, typename V, typename S, typename T, typename R, typename N>
constexpr D operator+(std::common_type_t<N> n, const iterator_facade<D, V, S, T, R, N>& it) {
  return it + n;
}
#define THRUST_DETAIL_COMPARE(sign, expression)                                                              \
  template <typename D, typename V, typename S, typename T, typename R, typename N, typename D2, typename V2, \
            typename S2, typename T2, typename R2, typename N2>                                              \
  constexpr auto operator sign(const iterator_facade<D, V, S, T, R, N>& one,                                 \
                               const iterator_facade<D2, V2, S2, T2, R2, N2>& two) {                         \
    const D& a = static_cast<const D&>(one);                                                                 \
    const D2& b = static_cast<const D2&>(two);                                                               \
    return expression;                                                                                       \
  }
THRUST_DETAIL_COMPARE(==, iterator_core_access::equal(a, b))
THRUST_DETAIL_COMPARE(!=, !iterator_core_access::equal(a, b))
THRUST_DETAIL_COMPARE(<, iterator_core_access::distance(a, b) > 0)
THRUST_DETAIL_COMPARE(>, iterator_core_access::distance(a, b) < 0)
THRUST_DETAIL_COMPARE(<=, iterator_core_access::distance(a, b) >= 0)
THRUST_DETAIL_COMPARE(>=, iterator_core_access::distance(a, b) <= 0)
THRUST_DETAIL_COMPARE(-, iterator_core_access::distance(b, a))
#undef THRUST_DETAIL_COMPARE
}  // namespace thrust
#pragma clang force_cuda_host_device end
