// What is known of an iterator: types, traversal; and how one of the device is handed to a kernel.
#pragma once
#include "../detail/systems.h"
#include "../pair.h"
#include "../tuple.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Iterator>
struct iterator_traits : std::iterator_traits<Iterator> {};
template <typename Iterator>
struct iterator_value {
  using type = typename std::iterator_traits<Iterator>::value_type;
};
template <typename Iterator>
struct iterator_reference {
  using type = typename std::iterator_traits<Iterator>::reference;
};
template <typename Iterator>
struct iterator_pointer {
  using type = typename std::iterator_traits<Iterator>::pointer;
};
template <typename Iterator>
struct iterator_difference {
  using type = typename std::iterator_traits<Iterator>::difference_type;
};
template <typename Iterator>
using iterator_value_t = typename iterator_value<Iterator>::type;
template <typename Iterator>
using iterator_reference_t = typename iterator_reference<Iterator>::type;
template <typename Iterator>
using iterator_pointer_t = typename iterator_pointer<Iterator>::type;
template <typename Iterator>
using iterator_difference_t = typename iterator_difference<Iterator>::type;

// Traversal, apart from the system. The standard's categories say the same.
using no_traversal_tag = void;
using incrementable_traversal_tag = std::output_iterator_tag;
using single_pass_traversal_tag = std::input_iterator_tag;
using forward_traversal_tag = std::forward_iterator_tag;
using bidirectional_traversal_tag = std::bidirectional_iterator_tag;
using random_access_traversal_tag = std::random_access_iterator_tag;
using input_host_iterator_tag = std::input_iterator_tag;
using output_host_iterator_tag = std::output_iterator_tag;
using forward_host_iterator_tag = std::forward_iterator_tag;
using bidirectional_host_iterator_tag = std::bidirectional_iterator_tag;
using random_access_host_iterator_tag = std::random_access_iterator_tag;
using input_device_iterator_tag = std::input_iterator_tag;
using output_device_iterator_tag = std::output_iterator_tag;
using forward_device_iterator_tag = std::forward_iterator_tag;
using bidirectional_device_iterator_tag = std::bidirectional_iterator_tag;
using random_access_device_iterator_tag = std::random_access_iterator_tag;
template <typename Iterator>
struct iterator_traversal {
  using type = typename std::iterator_traits<Iterator>::iterator_category;
};

struct use_default {};
template <typename T>
class device_reference;

namespace detail {
template <typename Given, typename Default>
using or_default = std::conditional_t<std::is_same_v<Given, use_default>, Default, Given>;

/// A reference as kernels have it: to the element itself.
template <typename Reference>
struct raw_reference {
  using type = Reference;
};
template <typename T>
struct raw_reference<device_reference<T>> {
  using type = T&;
};
template <typename... Reference>
struct raw_reference<tuple<Reference...>> {
  using type = tuple<typename raw_reference<Reference>::type...>;
};
template <typename Iterator>
using raw_reference_of = typename raw_reference<iterator_reference_t<Iterator>>::type;

/// What a function object returns for elements of iterators.
template <typename Function, typename... Iterators>
using result_of = std::decay_t<std::invoke_result_t<Function, raw_reference_of<Iterators>...>>;

/// The iterator as a kernel reads it fastest; pointers into device memory become plain ones. Overloaded beside each
/// iterator that holds others.
template <typename Iterator, typename = void>
struct unwrapped {
  static Iterator of(const Iterator& given) { return given; }
};
template <typename Iterator>
auto unwrap(const Iterator& given) {
  return unwrapped<Iterator>::of(given);
}
template <typename Iterator>
using unwrapped_t = decltype(unwrap(std::declval<const Iterator&>()));
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
