// Several iterators side by side: a tuple of the elements of each.
#pragma once
#include "iterator_adaptor.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Iterators>
class zip_iterator;

template <typename... Iterator>
class zip_iterator<tuple<Iterator...>>
    : public iterator_facade<zip_iterator<tuple<Iterator...>>, tuple<iterator_value_t<Iterator>...>,
                             detail::common_system<Iterator...>, std::random_access_iterator_tag,
                             tuple<iterator_reference_t<Iterator>...>, ptrdiff_t> {
  friend class iterator_core_access;
  static_assert(!std::is_same_v<detail::common_system<Iterator...>, detail::mixed_systems>,
                "all iterators of a zip_iterator belong to one system, host or device (a raw pointer is the host's)");
  using indices = std::index_sequence_for<Iterator...>;
  tuple<Iterator...> all;

  template <size_t... index>
  constexpr tuple<iterator_reference_t<Iterator>...> read(std::index_sequence<index...>) const {
    return {*thrust::get<index>(all)...};
  }
  template <size_t... index>
  constexpr void move(std::index_sequence<index...>, ptrdiff_t n) {
    ((void)(thrust::get<index>(all) += n), ...);
  }
  template <size_t... index>
  constexpr void step(std::index_sequence<index...>) {
    ((void)++thrust::get<index>(all), ...);
  }
  constexpr tuple<iterator_reference_t<Iterator>...> dereference() const { return read(indices()); }
  constexpr void increment() { step(indices()); }
  constexpr void decrement() { move(indices(), -1); }
  constexpr void advance(ptrdiff_t n) { move(indices(), n); }
  template <typename Other>
  constexpr bool equal(const Other& other) const {
    return thrust::get<0>(all) == thrust::get<0>(other.get_iterator_tuple());
  }
  template <typename Other>
  constexpr ptrdiff_t distance_to(const Other& other) const {
    return thrust::get<0>(other.get_iterator_tuple()) - thrust::get<0>(all);
  }

 public:
  constexpr zip_iterator() = default;
  constexpr zip_iterator(const tuple<Iterator...>& given) : all(given) {}
  template <typename... Other, typename = std::enable_if_t<(... && std::is_convertible_v<Other, Iterator>)>>
  constexpr zip_iterator(const zip_iterator<tuple<Other...>>& other) : all(other.get_iterator_tuple()) {}
  constexpr const tuple<Iterator...>& get_iterator_tuple() const { return all; }
};
template <typename... Iterator>
zip_iterator(tuple<Iterator...>) -> zip_iterator<tuple<Iterator...>>;

template <typename... Iterator>
constexpr zip_iterator<tuple<Iterator...>> make_zip_iterator(tuple<Iterator...> iterators) {
  return {iterators};
}
template <typename First, typename... Rest, typename = typename std::iterator_traits<First>::iterator_category>
constexpr zip_iterator<tuple<First, Rest...>> make_zip_iterator(First first, Rest... rest) {
  return {tuple<First, Rest...>(first, rest...)};
}
namespace detail {
template <typename... I>
struct unwrapped<zip_iterator<tuple<I...>>> {
  template <size_t... index>
  static auto each(const tuple<I...>& all, std::index_sequence<index...>) {
    return zip_iterator<tuple<unwrapped_t<I>...>>(tuple<unwrapped_t<I>...>(unwrap(thrust::get<index>(all))...));
  }
  static auto of(const zip_iterator<tuple<I...>>& it) {
    return each(it.get_iterator_tuple(), std::index_sequence_for<I...>());
  }
};
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
