// Reads a function of another iterator's elements, and stores another function of what is assigned.
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <typename Value, typename Input, typename Output, typename Iterator>
class both_ways {
  Input input;
  Output output;
  Iterator place;

 public:
  constexpr both_ways(const Input& in, const Output& out, const Iterator& it) : input(in), output(out), place(it) {}
  operator Value() const {
    Input f = input;
    return f(*place);
  }
  template <typename T>
  const both_ways& operator=(const T& value) const {
    Output f = output;
    Iterator it = place;
    *it = f(value);
    return *this;
  }
  const both_ways& operator=(const both_ways& other) const { return *this = static_cast<Value>(other); }
};
template <typename Input, typename Output, typename Iterator>
using both_ways_of = both_ways<result_of<Input&, Iterator>, Input, Output, Iterator>;
}  // namespace detail
template <typename Input, typename Output, typename Iterator>
class transform_input_output_iterator
    : public iterator_adaptor<transform_input_output_iterator<Input, Output, Iterator>, Iterator,
                              detail::result_of<Input&, Iterator>, use_default, use_default,
                              detail::both_ways_of<Input, Output, Iterator>> {
  using super = iterator_adaptor<transform_input_output_iterator, Iterator, detail::result_of<Input&, Iterator>,
                                 use_default, use_default, detail::both_ways_of<Input, Output, Iterator>>;
  friend class iterator_core_access;
  Input input;
  Output output;
  constexpr typename super::reference dereference() const { return {input, output, this->base()}; }

 public:
  constexpr transform_input_output_iterator(const Iterator& base, Input in, Output out)
      : super(base), input(in), output(out) {}
  constexpr const Input& input_function() const { return input; }
  constexpr const Output& output_function() const { return output; }
};
template <typename Input, typename Output, typename Iterator>
constexpr transform_input_output_iterator<Input, Output, Iterator> make_transform_input_output_iterator(
    Iterator base, Input input, Output output) {
  return transform_input_output_iterator<Input, Output, Iterator>(base, input, output);
}
namespace detail {
template <typename I, typename O, typename It>
struct unwrapped<transform_input_output_iterator<I, O, It>> {
  static auto of(const transform_input_output_iterator<I, O, It>& it) {
    return transform_input_output_iterator<I, O, unwrapped_t<It>>(unwrap(it.base()), it.input_function(),
                                                                  it.output_function());
  }
};
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
