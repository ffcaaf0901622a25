// Stores a function of what is assigned.
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <typename Function, typename Iterator>
class transforming_reference {
  Function function;
  Iterator place;

 public:
  constexpr transforming_reference(const Function& f, const Iterator& it) : function(f), place(it) {}
  template <typename T>
  const transforming_reference& operator=(const T& value) const {
    Function f = function;
    Iterator it = place;
    *it = f(value);
    return *this;
  }
};
}  // namespace detail
template <typename Function, typename Iterator>
class transform_output_iterator
    : public iterator_adaptor<transform_output_iterator<Function, Iterator>, Iterator, iterator_value_t<Iterator>,
                              use_default, use_default, detail::transforming_reference<Function, Iterator>> {
  using super = iterator_adaptor<transform_output_iterator, Iterator, iterator_value_t<Iterator>, use_default,
                                 use_default, detail::transforming_reference<Function, Iterator>>;
  friend class iterator_core_access;
  Function function;
  constexpr typename super::reference dereference() const { return {function, this->base()}; }

 public:
  constexpr transform_output_iterator(const Iterator& base, Function given) : super(base), function(given) {}
  constexpr Function functor() const { return function; }
};
template <typename Function, typename Iterator>
constexpr transform_output_iterator<Function, Iterator> make_transform_output_iterator(Iterator base,
                                                                                      Function function) {
  return transform_output_iterator<Function, Iterator>(base, function);
}
namespace detail {
template <typename F, typename I>
struct unwrapped<transform_output_iterator<F, I>> {
  static auto of(const transform_output_iterator<F, I>& it) {
    return transform_output_iterator<F, unwrapped_t<I>>(unwrap(it.base()), it.functor());
  }
};
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
