// An iterator around another one, of which it changes some functions.
#pragma once
#include "iterator_facade.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <typename Base>
struct value_type_of {
  using type = iterator_value_t<Base>;
};
template <typename Base>
struct reference_type_of {
  using type = iterator_reference_t<Base>;
};
template <typename Base>
struct traversal_type_of {
  using type = typename iterator_traversal<Base>::type;
};
template <typename Base>
struct difference_type_of {
  using type = iterator_difference_t<Base>;
};
template <typename T>
struct given_type {
  using type = T;
};
/// The given type, or what `Default` names; that one is not asked where a type is given (a base may be a number).
template <typename Given, typename Default>
using adapted = typename std::conditional_t<std::is_same_v<Given, use_default>, Default, given_type<Given>>::type;

template <typename Derived, typename Base, typename Value, typename System, typename Traversal, typename Reference,
          typename Difference>
using facade_of =
    iterator_facade<Derived, adapted<Value, value_type_of<Base>>, adapted<System, system_of<Base>>,
                    adapted<Traversal, traversal_type_of<Base>>,
                    adapted<Reference, std::conditional_t<std::is_same_v<Value, use_default>, reference_type_of<Base>,
                                                          std::add_lvalue_reference<Value>>>,
                    adapted<Difference, difference_type_of<Base>>>;
}  // namespace detail

template <typename Derived, typename Base, typename Value = use_default, typename System = use_default,
          typename Traversal = use_default, typename Reference = use_default, typename Difference = use_default>
class iterator_adaptor
    : public detail::facade_of<Derived, Base, Value, System, Traversal, Reference, Difference> {
  friend class iterator_core_access;
  using facade = detail::facade_of<Derived, Base, Value, System, Traversal, Reference, Difference>;

 protected:
  using super_t = iterator_adaptor;
  constexpr Base& base_reference() { return held; }
  constexpr const Base& base_reference() const { return held; }

 private:
  Base held;
  constexpr typename facade::reference dereference() const { return *held; }
  template <typename Other>
  constexpr bool equal(const Other& other) const {
    return held == other.base();
  }
  constexpr void increment() { ++held; }
  constexpr void decrement() { --held; }
  constexpr void advance(typename facade::difference_type n) { held += n; }
  template <typename Other>
  constexpr typename facade::difference_type distance_to(const Other& other) const {
    return static_cast<typename facade::difference_type>(other.base() - held);
  }

 public:
  using base_type = Base;
  using typename facade::reference;
  using typename facade::difference_type;
  constexpr iterator_adaptor() : held() {}
  constexpr explicit iterator_adaptor(const Base& base) : held(base) {}
  constexpr const Base& base() const { return held; }
};
}  // namespace thrust
#pragma clang force_cuda_host_device end
