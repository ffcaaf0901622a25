// Function objects for host and device, and placeholders: saxpy is a * _1 + _2.
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <functional>

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Argument, typename Result>
struct unary_function {
  using argument_type = Argument;
  using result_type = Result;
};
template <typename First, typename Second, typename Result>
struct binary_function {
  using first_argument_type = First;
  using second_argument_type = Second;
  using result_type = Result;
};

// Of one type; with none given (plus<>), of whatever the arguments are.
#define THRUST_DETAIL_BINARY(name, Result, expression)                                            \
  template <typename T = void>                                                                    \
  struct name {                                                                                   \
    using first_argument_type = T;                                                                \
    using second_argument_type = T;                                                               \
    using result_type = Result;                                                                   \
    constexpr Result operator()(const T& a, const T& b) const { return expression; }              \
  };                                                                                              \
  template <>                                                                                     \
  struct name<void> {                                                                             \
    using is_transparent = void;                                                                  \
    template <typename A, typename B>                                                             \
    constexpr auto operator()(A&& a, B&& b) const -> std::decay_t<decltype(expression)> {         \
      return expression;                                                                          \
    }                                                                                             \
  };
THRUST_DETAIL_BINARY(plus, T, a + b)
THRUST_DETAIL_BINARY(minus, T, a - b)
THRUST_DETAIL_BINARY(multiplies, T, a* b)
THRUST_DETAIL_BINARY(divides, T, a / b)
THRUST_DETAIL_BINARY(modulus, T, a % b)
THRUST_DETAIL_BINARY(bit_and, T, a& b)
THRUST_DETAIL_BINARY(bit_or, T, a | b)
THRUST_DETAIL_BINARY(bit_xor, T, a ^ b)
THRUST_DETAIL_BINARY(maximum, T, a < b ? b : a)
THRUST_DETAIL_BINARY(minimum, T, b < a ? b : a)
THRUST_DETAIL_BINARY(equal_to, bool, a == b)
THRUST_DETAIL_BINARY(not_equal_to, bool, a != b)
THRUST_DETAIL_BINARY(greater, bool, a > b)
THRUST_DETAIL_BINARY(less, bool, a < b)
THRUST_DETAIL_BINARY(greater_equal, bool, a >= b)
THRUST_DETAIL_BINARY(less_equal, bool, a <= b)
THRUST_DETAIL_BINARY(logical_and, bool, a&& b)
THRUST_DETAIL_BINARY(logical_or, bool, a || b)
#undef THRUST_DETAIL_BINARY

#define THRUST_DETAIL_UNARY(name, Result, expression)                                  \
  template <typename T = void>                                                         \
  struct name {                                                                        \
    using argument_type = T;                                                           \
    using result_type = Result;                                                        \
    constexpr Result operator()(const T& a) const { return expression; }               \
  };                                                                                   \
  template <>                                                                          \
  struct name<void> {                                                                  \
    using is_transparent = void;                                                       \
    template <typename A>                                                              \
    constexpr auto operator()(A&& a) const -> std::decay_t<decltype(expression)> {     \
      return expression;                                                               \
    }                                                                                  \
  };
THRUST_DETAIL_UNARY(negate, T, -a)
THRUST_DETAIL_UNARY(square, T, a* a)
THRUST_DETAIL_UNARY(bit_not, T, ~a)
THRUST_DETAIL_UNARY(logical_not, bool, !a)
#undef THRUST_DETAIL_UNARY

template <typename T = void>
struct identity {
  using argument_type = T;
  using result_type = T;
  constexpr const T& operator()(const T& a) const { return a; }
};
template <>
struct identity<void> {
  using is_transparent = void;
  template <typename A>
  constexpr A&& operator()(A&& a) const {
    return static_cast<A&&>(a);
  }
};
template <typename A = void, typename B = void>
struct project1st {
  using result_type = A;
  constexpr const A& operator()(const A& a, const B&) const { return a; }
};
template <typename A = void, typename B = void>
struct project2nd {
  using result_type = B;
  constexpr const B& operator()(const A&, const B& b) const { return b; }
};

template <typename Predicate>
struct unary_negate {
  Predicate predicate;
  constexpr explicit unary_negate(Predicate given) : predicate(given) {}
  template <typename A>
  bool operator()(const A& a) {
    return !predicate(a);
  }
};
template <typename Predicate>
struct binary_negate {
  Predicate predicate;
  constexpr explicit binary_negate(Predicate given) : predicate(given) {}
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) {
    return !predicate(a, b);
  }
};
template <typename Predicate>
constexpr unary_negate<Predicate> not1(const Predicate& predicate) {
  return unary_negate<Predicate>(predicate);
}
template <typename Predicate>
constexpr binary_negate<Predicate> not2(const Predicate& predicate) {
  return binary_negate<Predicate>(predicate);
}
namespace detail {
template <typename Predicate>
struct negated {
  Predicate predicate;
  template <typename... A>
  bool operator()(A&&... a) {
    return !predicate(static_cast<A&&>(a)...);
  }
};
}  // namespace detail
template <typename Predicate>
constexpr detail::negated<Predicate> not_fn(const Predicate& predicate) {
  return {predicate};
}

// Placeholders. An expression of them is a function object; what it holds by value are the other operands.
namespace detail {
template <size_t index>
struct nth_argument {
  template <typename First, typename... Rest>
  constexpr decltype(auto) operator()(First& first, Rest&... rest) const {
    if constexpr (index == 0)
      return (first);
    else
      return nth_argument<index - 1>()(rest...);
  }
};
template <typename T>
struct operand {
  T value;
  template <typename... A>
  constexpr const T& operator()(A&...) const {
    return value;
  }
};
template <typename Operation, typename... Parts>
struct expression;
template <typename Operation, typename Part>
struct expression<Operation, Part> {
  Part part;
  template <typename... A>
  constexpr decltype(auto) operator()(A&... a) const {
    return Operation()(part(a...));
  }
};
template <typename Operation, typename Left, typename Right>
struct expression<Operation, Left, Right> {
  Left left;
  Right right;
  template <typename... A>
  constexpr decltype(auto) operator()(A&... a) const {
    return Operation()(left(a...), right(a...));
  }
};
template <typename Expression>
struct actor;
template <typename T>
struct is_actor : std::false_type {};
template <typename Expression>
struct is_actor<actor<Expression>> : std::true_type {};
template <typename T>
constexpr auto part_of(const T& given) {
  return operand<T>{given};
}
template <typename Expression>
constexpr Expression part_of(const actor<Expression>& given) {
  return given.body;
}
template <typename Operation, typename... T>
constexpr auto act(const T&... given) {
  using made = expression<Operation, decltype(part_of(given))...>;
  return actor<made>{made{part_of(given)...}};
}
struct assigning {
  template <typename A, typename B>
  constexpr decltype(auto) operator()(A&& a, B&& b) const {
    return a = b;
  }
};
template <typename Expression>
struct actor {
  Expression body;
  template <typename... A>
  constexpr decltype(auto) operator()(A&&... a) const {
    return body(a...);
  }
  template <typename T>
  constexpr auto operator=(const T& other) const {
    return act<assigning>(*this, other);
  }
};

#define THRUST_DETAIL_OPERATION(name, sign)                                                                   \
  struct name {                                                                                               \
    template <typename A, typename B>                                                                         \
    constexpr decltype(auto) operator()(A&& a, B&& b) const {                                                 \
      return a sign b;                                                                                        \
    }                                                                                                         \
  };                                                                                                          \
  template <typename L, typename R, typename = std::enable_if_t<is_actor<L>::value || is_actor<R>::value>>    \
  constexpr auto operator sign(const L & left, const R & right) {                                             \
    return act<name>(left, right);                                                                            \
  }
THRUST_DETAIL_OPERATION(adding, +)
THRUST_DETAIL_OPERATION(subtracting, -)
THRUST_DETAIL_OPERATION(multiplying, *)
THRUST_DETAIL_OPERATION(dividing, /)
THRUST_DETAIL_OPERATION(taking_the_rest, %)
THRUST_DETAIL_OPERATION(being_equal, ==)
THRUST_DETAIL_OPERATION(differing, !=)
THRUST_DETAIL_OPERATION(being_less, <)
THRUST_DETAIL_OPERATION(being_greater, >)
THRUST_DETAIL_OPERATION(being_at_most, <=)
THRUST_DETAIL_OPERATION(being_at_least, >=)
THRUST_DETAIL_OPERATION(both, &&)
THRUST_DETAIL_OPERATION(either, ||)
THRUST_DETAIL_OPERATION(masking, &)
THRUST_DETAIL_OPERATION(joining, |)
THRUST_DETAIL_OPERATION(excluding, ^)
THRUST_DETAIL_OPERATION(shifting_left, <<)
THRUST_DETAIL_OPERATION(shifting_right, >>)
THRUST_DETAIL_OPERATION(adding_to, +=)
THRUST_DETAIL_OPERATION(subtracting_from, -=)
THRUST_DETAIL_OPERATION(multiplying_by, *=)
THRUST_DETAIL_OPERATION(dividing_by, /=)
THRUST_DETAIL_OPERATION(reducing_by, %=)
THRUST_DETAIL_OPERATION(masking_by, &=)
THRUST_DETAIL_OPERATION(joining_by, |=)
THRUST_DETAIL_OPERATION(excluding_by, ^=)
#undef THRUST_DETAIL_OPERATION
#define THRUST_DETAIL_OPERATION(name, sign)         \
  struct name {                                     \
    template <typename A>                           \
    constexpr decltype(auto) operator()(A&& a) const { \
      return sign a;                                \
    }                                               \
  };                                                \
  template <typename E>                             \
  constexpr auto operator sign(const actor<E>& one) {  \
    return act<name>(one);                          \
  }
THRUST_DETAIL_OPERATION(negating, -)
THRUST_DETAIL_OPERATION(keeping, +)
THRUST_DETAIL_OPERATION(denying, !)
THRUST_DETAIL_OPERATION(inverting, ~)
#undef THRUST_DETAIL_OPERATION
}  // namespace detail

namespace placeholders {
inline constexpr detail::actor<detail::nth_argument<0>> _1{};
inline constexpr detail::actor<detail::nth_argument<1>> _2{};
inline constexpr detail::actor<detail::nth_argument<2>> _3{};
inline constexpr detail::actor<detail::nth_argument<3>> _4{};
}  // namespace placeholders
}  // namespace thrust
#pragma clang force_cuda_host_device end
