// A function of another iterator's elements, computed when it is read.
#pragma once
#include "../device_reference.h"
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <typename Function, typename Iterator, typename Reference>
using transform_reference =
    adapted<Reference, std::invoke_result<Function&, raw_reference_of<Iterator>>>;
template <typename Function, typename Iterator, typename Reference, typename Value>
using transform_value =
    or_default<Value, std::remove_cv_t<std::remove_reference_t<transform_reference<Function, Iterator, Reference>>>>;
}  // namespace detail

template <typename Function, typename Iterator, typename Reference = use_default, typename Value = use_default>
class transform_iterator
    : public iterator_adaptor<transform_iterator<Function, Iterator, Reference, Value>, Iterator,
                              detail::transform_value<Function, Iterator, Reference, Value>, use_default, use_default,
                              detail::transform_reference<Function, Iterator, Reference>> {
  using super = iterator_adaptor<transform_iterator, Iterator,
                                 detail::transform_value<Function, Iterator, Reference, Value>, use_default,
                                 use_default, detail::transform_reference<Function, Iterator, Reference>>;
  friend class iterator_core_access;
  mutable Function function;  // its operator() need not be const
  constexpr typename super::reference dereference() const {
    if constexpr (detail::is_device_reference<iterator_reference_t<Iterator>>)
      return function(static_cast<iterator_value_t<Iterator>>(*this->base()));
    else
      return function(*this->base());
  }

 public:
  constexpr transform_iterator() : function() {}
  constexpr transform_iterator(const Iterator& base, Function given) : super(base), function(given) {}
  constexpr explicit transform_iterator(const Iterator& base) : super(base), function() {}
  template <typename F, typename I, typename R, typename V,
            typename = std::enable_if_t<std::is_convertible_v<I, Iterator> && std::is_convertible_v<F, Function>>>
  constexpr transform_iterator(const transform_iterator<F, I, R, V>& other)
      : super(other.base()), function(other.functor()) {}
  // Assignment replaces the function too; closures of lambdas cannot be assigned, but are made anew.
  constexpr transform_iterator(const transform_iterator&) = default;
  constexpr transform_iterator& operator=(const transform_iterator& other) {
    this->base_reference() = other.base();
    if constexpr (std::is_copy_assignable_v<Function>)
      function = other.function;
    else if (this != &other) {
      function.~Function();
      ::new (static_cast<void*>(&function)) Function(other.function);
    }
    return *this;
  }
  constexpr Function functor() const { return function; }
};
template <typename Function, typename Iterator>
constexpr transform_iterator<Function, Iterator> make_transform_iterator(Iterator base, Function function) {
  return transform_iterator<Function, Iterator>(base, function);
}
namespace detail {
template <typename F, typename I, typename R, typename V>
struct unwrapped<transform_iterator<F, I, R, V>> {
  static auto of(const transform_iterator<F, I, R, V>& it) {
    return transform_iterator<F, unwrapped_t<I>, R, V>(unwrap(it.base()), it.functor());
  }
};
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
