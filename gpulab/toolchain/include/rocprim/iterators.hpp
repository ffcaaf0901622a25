// rocPRIM's iterators.
#pragma once
#include "../gpulab/primitives/iterators.h"
#include "functional.hpp"
#include "types.hpp"

namespace rocprim {
namespace gpulab_ = ::gpulab::primitives;

template <typename Incrementable, typename Difference = ptrdiff_t>
using counting_iterator = gpulab_::CountingIterator<Incrementable>;
template <typename T>
__GPULAB_BOTH__ counting_iterator<T> make_counting_iterator(T value) {
  return counting_iterator<T>(value);
}
template <typename T, typename Difference = ptrdiff_t>
using constant_iterator = gpulab_::ConstantIterator<T>;
template <typename T>
__GPULAB_BOTH__ constant_iterator<T> make_constant_iterator(T value, size_t index = 0) {
  return constant_iterator<T>(value, static_cast<ptrdiff_t>(index));
}
using discard_iterator = gpulab_::DiscardIterator;
__GPULAB_BOTH__ discard_iterator make_discard_iterator(size_t index = 0) {
  return discard_iterator(static_cast<ptrdiff_t>(index));
}
template <typename Input, typename Function,
          typename Value = gpulab_::bare<decltype(gpulab_::declare<Function&>()(*gpulab_::declare<Input&>()))>>
using transform_iterator = gpulab_::TransformIterator<Value, Function, Input>;
template <typename Input, typename Function>
__GPULAB_BOTH__ transform_iterator<Input, Function> make_transform_iterator(Input input, Function function) {
  return transform_iterator<Input, Function>(input, function);
}
template <typename Input, typename Difference = ptrdiff_t, typename Value = gpulab_::element_of<Input>>
using arg_index_iterator = gpulab_::IndexedIterator<Input, Difference, Value>;
template <typename Input>
__GPULAB_BOTH__ arg_index_iterator<Input> make_arg_index_iterator(Input input) {
  return arg_index_iterator<Input>(input);
}

// What is stored goes through a function first.
template <typename Output, typename Function>
struct transformed_place {
  Output to;
  Function function;
  template <typename T>
  __GPULAB_MEMBER__ const transformed_place& operator=(const T& value) const {
    Function called = function;
    *to = called(value);
    return *this;
  }
};
template <typename Output, typename Function>
struct transform_output_iterator
    : gpulab_::IteratorBase<transform_output_iterator<Output, Function>, void, transformed_place<Output, Function>> {
  Output to;
  Function function;
  __GPULAB_MEMBER__ transform_output_iterator(Output output, Function f) : to(output), function(f) {}
  template <typename Offset>
  __GPULAB_MEMBER__ void advance(Offset n) {
    to = to + n;
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const transform_output_iterator& other) const { return to - other.to; }
  __GPULAB_MEMBER__ transformed_place<Output, Function> read() const { return {to, function}; }
};
template <typename Output, typename Function>
__GPULAB_BOTH__ transform_output_iterator<Output, Function> make_transform_output_iterator(Output output,
                                                                                           Function function) {
  return {output, function};
}

// From the end to the beginning: *iterator is what stands before the base.
template <typename Source>
struct reverse_iterator : gpulab_::IteratorBase<reverse_iterator<Source>, gpulab_::element_of<Source>,
                                                decltype(*gpulab_::declare<Source&>())> {
  Source base_;
  explicit __GPULAB_MEMBER__ reverse_iterator(Source base) : base_(base) {}
  __GPULAB_MEMBER__ Source base() const { return base_; }
  template <typename Offset>
  __GPULAB_MEMBER__ void advance(Offset n) {
    base_ = base_ - static_cast<ptrdiff_t>(n);
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const reverse_iterator& other) const { return other.base_ - base_; }
  __GPULAB_MEMBER__ decltype(auto) read() const { return *(base_ - 1); }
};
template <typename Source>
__GPULAB_BOTH__ reverse_iterator<Source> make_reverse_iterator(Source source) {
  return reverse_iterator<Source>(source);
}

// Several iterators as one, of tuples.
template <typename Iterators>
struct zip_iterator;
template <typename... Iterators>
struct zip_iterator<gpulab_::Tuple<Iterators...>>
    : gpulab_::IteratorBase<zip_iterator<gpulab_::Tuple<Iterators...>>,
                            gpulab_::Tuple<gpulab_::element_of<Iterators>...>,
                            gpulab_::Tuple<decltype(*gpulab_::declare<Iterators&>())...>> {
  gpulab_::Tuple<Iterators...> iterators;
  __GPULAB_MEMBER__ zip_iterator(gpulab_::Tuple<Iterators...> given) : iterators(given) {}
  template <typename Offset>
  __GPULAB_MEMBER__ void advance(Offset n) {
    advance_all(iterators, n);
  }
  __GPULAB_MEMBER__ ptrdiff_t distance(const zip_iterator& other) const {
    return iterators.first - other.iterators.first;
  }
  __GPULAB_MEMBER__ gpulab_::Tuple<decltype(*gpulab_::declare<Iterators&>())...> read() const {
    return read_all(iterators);
  }

 private:
  template <typename Offset>
  static __GPULAB_MEMBER__ void advance_all(gpulab_::Tuple<>&, Offset) {}
  template <typename Offset, typename T, typename... Rest>
  static __GPULAB_MEMBER__ void advance_all(gpulab_::Tuple<T, Rest...>& all, Offset n) {
    all.first = all.first + n;
    advance_all(all.rest, n);
  }
  template <typename... Done>
  static __GPULAB_MEMBER__ gpulab_::Tuple<decltype(*gpulab_::declare<Iterators&>())...> read_all(
      const gpulab_::Tuple<>&, Done&&... done) {
    return gpulab_::Tuple<decltype(*gpulab_::declare<Iterators&>())...>(static_cast<Done&&>(done)...);
  }
  template <typename T, typename... Rest, typename... Done>
  static __GPULAB_MEMBER__ gpulab_::Tuple<decltype(*gpulab_::declare<Iterators&>())...> read_all(
      const gpulab_::Tuple<T, Rest...>& all, Done&&... done) {
    return read_all(all.rest, static_cast<Done&&>(done)..., *all.first);
  }
};
template <typename... Iterators>
__GPULAB_BOTH__ zip_iterator<gpulab_::Tuple<Iterators...>> make_zip_iterator(gpulab_::Tuple<Iterators...> iterators) {
  return zip_iterator<gpulab_::Tuple<Iterators...>>(iterators);
}

template <typename T, typename Difference = ptrdiff_t>
struct texture_cache_iterator {
  static_assert(sizeof(T) == 0,
                "gpulab: rocprim::texture_cache_iterator is not supported: gfx942 has no texture unit; "
                "a plain pointer reads the same memory");
};
}  // namespace rocprim
