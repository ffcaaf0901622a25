// thrust::tuple: as std::tuple, for host and device, with references as elements (what zip iterators give).
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <tuple>

#pragma clang force_cuda_host_device begin
namespace thrust {
struct null_type {};
template <typename... T>
class tuple;
template <typename First, typename Second>
struct pair;

template <typename T>
struct tuple_size;
template <typename T>
struct tuple_size<const T> : tuple_size<T> {};
template <typename... T>
struct tuple_size<tuple<T...>> : std::integral_constant<size_t, sizeof...(T)> {};
template <typename T>
inline constexpr size_t tuple_size_v = tuple_size<T>::value;

namespace detail {
template <size_t index, typename T>
struct leaf {
  T value;
  constexpr leaf() : value() {}
  template <typename U, typename = std::enable_if_t<!std::is_same_v<std::decay_t<U>, leaf>>>
  constexpr explicit leaf(U&& given) : value(static_cast<U&&>(given)) {}
};
template <size_t index, typename T>
constexpr T& value_of(leaf<index, T>& one) {
  return one.value;
}
template <size_t index, typename T>
constexpr const T& value_of(const leaf<index, T>& one) {
  return one.value;
}
template <size_t index, typename T>
T type_of(const volatile leaf<index, T>*);

template <typename Indices, typename... T>
struct leaves;
template <size_t... index, typename... T>
struct leaves<std::index_sequence<index...>, T...> : leaf<index, T>... {
  constexpr leaves() = default;
  template <typename... U>
  constexpr explicit leaves(int, U&&... given) : leaf<index, T>(static_cast<U&&>(given))... {}
};
template <typename... T>
using leaves_of = leaves<std::index_sequence_for<T...>, T...>;

template <typename From, typename... T>
struct converts : std::false_type {};
template <typename... U, typename... T>
struct converts<tuple<U...>, T...> : std::bool_constant<sizeof...(U) == sizeof...(T)> {};
}  // namespace detail

template <size_t index, typename T>
struct tuple_element;
template <size_t index, typename T>
struct tuple_element<index, const T> {
  using type = std::add_const_t<typename tuple_element<index, T>::type>;
};
template <size_t index, typename... T>
struct tuple_element<index, tuple<T...>> {
  using type = decltype(detail::type_of<index>(static_cast<detail::leaves_of<T...>*>(nullptr)));
};
template <size_t index, typename T>
using tuple_element_t = typename tuple_element<index, T>::type;

template <size_t index, typename... T>
constexpr tuple_element_t<index, tuple<T...>>& get(tuple<T...>& given) {
  return detail::value_of<index>(given.all);
}
template <size_t index, typename... T>
constexpr const tuple_element_t<index, tuple<T...>>& get(const tuple<T...>& given) {
  return detail::value_of<index>(given.all);
}
template <size_t index, typename... T>
constexpr tuple_element_t<index, tuple<T...>>&& get(tuple<T...>&& given) {
  return static_cast<tuple_element_t<index, tuple<T...>>&&>(detail::value_of<index>(given.all));
}
template <size_t index, typename... T>
constexpr const tuple_element_t<index, tuple<T...>>&& get(const tuple<T...>&& given) {
  return static_cast<const tuple_element_t<index, tuple<T...>>&&>(detail::value_of<index>(given.all));
}

template <typename... T>
class tuple {
  template <typename Other, size_t... index>
  constexpr tuple(std::index_sequence<index...>, Other&& other)
      : all(0, thrust::get<index>(static_cast<Other&&>(other))...) {}
  template <typename Other, size_t... index>
  constexpr void assign(std::index_sequence<index...>, Other&& other) {
    ((void)(detail::value_of<index>(all) = thrust::get<index>(static_cast<Other&&>(other))), ...);
  }
  using indices = std::index_sequence_for<T...>;

 public:
  detail::leaves_of<T...> all;  // the elements; use get<index>

  constexpr tuple() = default;
  constexpr tuple(const tuple&) = default;
  constexpr tuple(tuple&&) = default;
  template <typename... U,
            typename = std::enable_if_t<sizeof...(U) == sizeof...(T) && (sizeof...(U) > 0) &&
                                        (... && std::is_constructible_v<T, U&&>) &&
                                        !(sizeof...(U) == 1 && (... && std::is_base_of_v<tuple, std::decay_t<U>>))>>
  constexpr tuple(U&&... given) : all(0, static_cast<U&&>(given)...) {}
  template <typename... U,
            typename = std::enable_if_t<sizeof...(U) == sizeof...(T) && (... && std::is_constructible_v<T, const U&>)>>
  constexpr tuple(const tuple<U...>& other) : tuple(indices(), other) {}
  template <typename... U,
            typename = std::enable_if_t<sizeof...(U) == sizeof...(T) && (... && std::is_constructible_v<T, U&>)>>
  constexpr tuple(tuple<U...>& other) : tuple(indices(), other) {}
  template <typename... U,
            typename = std::enable_if_t<sizeof...(U) == sizeof...(T) && (... && std::is_constructible_v<T, U&&>)>>
  constexpr tuple(tuple<U...>&& other) : tuple(indices(), static_cast<tuple<U...>&&>(other)) {}
  template <typename A, typename B, size_t count = sizeof...(T), typename = std::enable_if_t<count == 2>>
  constexpr tuple(const pair<A, B>& other) : all(0, other.first, other.second) {}

  constexpr tuple& operator=(const tuple& other) {
    assign(indices(), other);
    return *this;
  }
  template <typename... U, typename = std::enable_if_t<sizeof...(U) == sizeof...(T)>>
  constexpr tuple& operator=(const tuple<U...>& other) {
    assign(indices(), other);
    return *this;
  }
  template <typename... U, typename = std::enable_if_t<sizeof...(U) == sizeof...(T)>>
  constexpr tuple& operator=(tuple<U...>&& other) {
    assign(indices(), static_cast<tuple<U...>&&>(other));
    return *this;
  }
  // A tuple of references (what a zip iterator gives) is assigned through, also where it is constant.
  template <typename... U,
            typename =
                std::enable_if_t<sizeof...(U) == sizeof...(T) && (... && std::is_assignable_v<const T&, const U&>)>>
  constexpr const tuple& operator=(const tuple<U...>& other) const {
    const_cast<tuple*>(this)->assign(indices(), other);
    return *this;
  }
  template <typename A, typename B, size_t count = sizeof...(T), typename = std::enable_if_t<count == 2>>
  constexpr tuple& operator=(const pair<A, B>& other) {
    thrust::get<0>(*this) = other.first;
    thrust::get<1>(*this) = other.second;
    return *this;
  }
  template <size_t index>
  constexpr auto& get() {
    return thrust::get<index>(*this);
  }
  template <size_t index>
  constexpr auto& get() const {
    return thrust::get<index>(*this);
  }
  constexpr void swap(tuple& other) {
    tuple kept = *this;
    *this = other;
    other = kept;
  }
};
template <>
class tuple<> {
 public:
  detail::leaves_of<> all;
};
template <typename... T>
tuple(T...) -> tuple<T...>;

namespace detail {
template <typename T>
struct made {
  using type = T;
};
template <typename T>
struct made<std::reference_wrapper<T>> {
  using type = T&;
};
template <size_t index, typename A, typename B>
constexpr bool equal_from(const A& a, const B& b) {
  if constexpr (index == tuple_size<A>::value)
    return true;
  else
    return thrust::get<index>(a) == thrust::get<index>(b) && equal_from<index + 1>(a, b);
}
template <size_t index, typename A, typename B>
constexpr bool less_from(const A& a, const B& b) {
  if constexpr (index == tuple_size<A>::value) {
    return false;
  } else {
    if (thrust::get<index>(a) < thrust::get<index>(b)) return true;
    if (thrust::get<index>(b) < thrust::get<index>(a)) return false;
    return less_from<index + 1>(a, b);
  }
}
}  // namespace detail

template <typename... T>
constexpr tuple<typename detail::made<std::decay_t<T>>::type...> make_tuple(T&&... given) {
  return tuple<typename detail::made<std::decay_t<T>>::type...>(static_cast<T&&>(given)...);
}
template <typename... T>
constexpr tuple<T&...> tie(T&... given) {
  return tuple<T&...>(given...);
}
struct ignore_t {
  template <typename T>
  constexpr const ignore_t& operator=(const T&) const {
    return *this;
  }
};
inline constexpr ignore_t ignore{};

template <typename... A, typename... B>
constexpr bool operator==(const tuple<A...>& a, const tuple<B...>& b) {
  static_assert(sizeof...(A) == sizeof...(B), "tuples of different lengths cannot be compared");
  return detail::equal_from<0>(a, b);
}
template <typename... A, typename... B>
constexpr bool operator!=(const tuple<A...>& a, const tuple<B...>& b) {
  return !(a == b);
}
template <typename... A, typename... B>
constexpr bool operator<(const tuple<A...>& a, const tuple<B...>& b) {
  static_assert(sizeof...(A) == sizeof...(B), "tuples of different lengths cannot be compared");
  return detail::less_from<0>(a, b);
}
template <typename... A, typename... B>
constexpr bool operator>(const tuple<A...>& a, const tuple<B...>& b) {
  return b < a;
}
template <typename... A, typename... B>
constexpr bool operator<=(const tuple<A...>& a, const tuple<B...>& b) {
  return !(b < a);
}
template <typename... A, typename... B>
constexpr bool operator>=(const tuple<A...>& a, const tuple<B...>& b) {
  return !(a < b);
}
template <typename... T>
constexpr void swap(tuple<T...>& a, tuple<T...>& b) {
  a.swap(b);
}
// Of what two iterators over tuples give: the elements that they refer to change places.
template <typename... T>
constexpr void swap(tuple<T&...>&& a, tuple<T&...>&& b) {
  tuple<T...> kept = a;
  a = b;
  b = kept;
}
}  // namespace thrust

template <typename... T>
struct std::tuple_size<thrust::tuple<T...>> : std::integral_constant<std::size_t, sizeof...(T)> {};
template <std::size_t index, typename... T>
struct std::tuple_element<index, thrust::tuple<T...>> : thrust::tuple_element<index, thrust::tuple<T...>> {};
#pragma clang force_cuda_host_device end
