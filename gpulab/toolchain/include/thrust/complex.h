// thrust::complex: as std::complex, for host and device.
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <cmath>
#include <complex>
#include <istream>
#include <limits>
#include <ostream>

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename T>
struct alignas(2 * sizeof(T)) complex {
  static_assert(std::is_floating_point_v<T>, "thrust::complex has parts of a floating-point type");
  using value_type = T;

 private:
  T x, y;

 public:
  constexpr complex(const T& real = T(), const T& imaginary = T()) : x(real), y(imaginary) {}
  complex(const complex&) = default;
  template <typename U>
  constexpr complex(const complex<U>& other) : x(static_cast<T>(other.real())), y(static_cast<T>(other.imag())) {}
  template <typename U>
  complex(const std::complex<U>& other)
      : x(static_cast<T>(reinterpret_cast<const U*>(&other)[0])),
        y(static_cast<T>(reinterpret_cast<const U*>(&other)[1])) {}
  complex& operator=(const complex&) = default;
  complex& operator=(const T& value) {
    x = value;
    y = T();
    return *this;
  }
  template <typename U>
  complex& operator=(const complex<U>& other) {
    x = static_cast<T>(other.real());
    y = static_cast<T>(other.imag());
    return *this;
  }
  operator std::complex<T>() const { return std::complex<T>(x, y); }
  constexpr T real() const { return x; }
  constexpr T imag() const { return y; }
  constexpr T real() const volatile { return x; }
  constexpr T imag() const volatile { return y; }
  void real(T value) { x = value; }
  void imag(T value) { y = value; }
  template <typename U>
  complex& operator+=(const U& other) {
    return *this = *this + complex(other);
  }
  template <typename U>
  complex& operator-=(const U& other) {
    return *this = *this - complex(other);
  }
  template <typename U>
  complex& operator*=(const U& other) {
    return *this = *this * complex(other);
  }
  template <typename U>
  complex& operator/=(const U& other) {
    return *this = *this / complex(other);
  }
};

namespace detail {
template <typename A, typename B>
using complex_of = complex<std::common_type_t<A, B>>;
template <typename A, typename B>
using when_number = std::enable_if_t<std::is_arithmetic_v<B>, complex_of<A, B>>;
template <typename T>
constexpr complex<T> sum(const complex<T>& a, const complex<T>& b) {
  return {a.real() + b.real(), a.imag() + b.imag()};
}
template <typename T>
constexpr complex<T> difference(const complex<T>& a, const complex<T>& b) {
  return {a.real() - b.real(), a.imag() - b.imag()};
}
template <typename T>
constexpr complex<T> product(const complex<T>& a, const complex<T>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <typename T>
complex<T> quotient(const complex<T>& a, const complex<T>& b) {
  // Both are scaled by the larger part of the divisor, so that squares neither overflow nor vanish.
  T scale = std::fabs(b.real()) + std::fabs(b.imag());
  T ar = a.real() / scale, ai = a.imag() / scale, br = b.real() / scale, bi = b.imag() / scale;
  T whole = br * br + bi * bi;
  return {(ar * br + ai * bi) / whole, (ai * br - ar * bi) / whole};
}
}  // namespace detail
#define THRUST_DETAIL_COMPLEX(sign, function)                                                            \
  template <typename A, typename B>                                                                      \
  constexpr detail::complex_of<A, B> operator sign(const complex<A>& a, const complex<B>& b) {           \
    using C = detail::complex_of<A, B>;                                                                  \
    return detail::function(C(a), C(b));                                                                 \
  }                                                                                                      \
  template <typename A, typename B>                                                                      \
  constexpr detail::when_number<A, B> operator sign(const complex<A>& a, const B& b) {                   \
    using C = detail::complex_of<A, B>;                                                                  \
    return detail::function(C(a), C(static_cast<typename C::value_type>(b)));                            \
  }                                                                                                      \
  template <typename A, typename B>                                                                      \
  constexpr detail::when_number<A, B> operator sign(const B& b, const complex<A>& a) {                   \
    using C = detail::complex_of<A, B>;                                                                  \
    return detail::function(C(static_cast<typename C::value_type>(b)), C(a));                            \
  }
THRUST_DETAIL_COMPLEX(+, sum)
THRUST_DETAIL_COMPLEX(-, difference)
THRUST_DETAIL_COMPLEX(*, product)
THRUST_DETAIL_COMPLEX(/, quotient)
#undef THRUST_DETAIL_COMPLEX
template <typename T>
constexpr complex<T> operator+(const complex<T>& z) {
  return z;
}
template <typename T>
constexpr complex<T> operator-(const complex<T>& z) {
  return {-z.real(), -z.imag()};
}
template <typename A, typename B>
constexpr bool operator==(const complex<A>& a, const complex<B>& b) {
  return a.real() == b.real() && a.imag() == b.imag();
}
template <typename A, typename B>
constexpr bool operator!=(const complex<A>& a, const complex<B>& b) {
  return !(a == b);
}
template <typename A, typename B, typename = std::enable_if_t<std::is_arithmetic_v<B>>>
constexpr bool operator==(const complex<A>& a, const B& b) {
  return a.real() == b && a.imag() == A(0);
}
template <typename A, typename B, typename = std::enable_if_t<std::is_arithmetic_v<B>>>
constexpr bool operator!=(const complex<A>& a, const B& b) {
  return !(a == b);
}

template <typename T>
T abs(const complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}
template <typename T>
T arg(const complex<T>& z) {
  return std::atan2(z.imag(), z.real());
}
template <typename T>
constexpr T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <typename T>
constexpr complex<T> conj(const complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <typename T>
complex<T> polar(const T& radius, const T& angle = T()) {
  return {radius * std::cos(angle), radius * std::sin(angle)};
}
template <typename T>
complex<T> proj(const complex<T>& z) {
  if (std::isinf(z.real()) || std::isinf(z.imag()))
    return {std::numeric_limits<T>::infinity(), std::copysign(T(0), z.imag())};
  return z;
}
template <typename T>
complex<T> exp(const complex<T>& z) {
  return polar(std::exp(z.real()), z.imag());
}
template <typename T>
complex<T> log(const complex<T>& z) {
  return {std::log(abs(z)), arg(z)};
}
template <typename T>
complex<T> log10(const complex<T>& z) {
  return log(z) / T(2.30258509299404568401799145468436421);
}
template <typename T>
complex<T> sqrt(const complex<T>& z) {
  T size = abs(z);
  if (size == T(0)) return {T(0), z.imag()};
  // The part that is computed by a sum has no cancellation; the other one follows from it.
  T large = std::sqrt((size + std::fabs(z.real())) / T(2)), small = std::fabs(z.imag()) / (T(2) * large);
  return z.real() >= T(0) ? complex<T>(large, std::copysign(small, z.imag()))
                          : complex<T>(small, std::copysign(large, z.imag()));
}
template <typename A, typename B>
detail::complex_of<A, B> pow(const complex<A>& base, const complex<B>& exponent) {
  using C = detail::complex_of<A, B>;
  return exp(log(C(base)) * C(exponent));
}
template <typename A, typename B>
detail::when_number<A, B> pow(const complex<A>& base, const B& exponent) {
  using C = detail::complex_of<A, B>;
  return exp(log(C(base)) * static_cast<typename C::value_type>(exponent));
}
template <typename A, typename B>
detail::when_number<A, B> pow(const B& base, const complex<A>& exponent) {
  using C = detail::complex_of<A, B>;
  return exp(std::log(static_cast<typename C::value_type>(base)) * C(exponent));
}
template <typename T>
complex<T> sin(const complex<T>& z) {
  return {std::sin(z.real()) * std::cosh(z.imag()), std::cos(z.real()) * std::sinh(z.imag())};
}
template <typename T>
complex<T> cos(const complex<T>& z) {
  return {std::cos(z.real()) * std::cosh(z.imag()), -std::sin(z.real()) * std::sinh(z.imag())};
}
template <typename T>
complex<T> tan(const complex<T>& z) {
  return sin(z) / cos(z);
}
template <typename T>
complex<T> sinh(const complex<T>& z) {
  return {std::sinh(z.real()) * std::cos(z.imag()), std::cosh(z.real()) * std::sin(z.imag())};
}
template <typename T>
complex<T> cosh(const complex<T>& z) {
  return {std::cosh(z.real()) * std::cos(z.imag()), std::sinh(z.real()) * std::sin(z.imag())};
}
template <typename T>
complex<T> tanh(const complex<T>& z) {
  return sinh(z) / cosh(z);
}
// asinh(z) = log(z + sqrt(z^2 + 1)) and its relatives, by sqrt(z + i) * sqrt(z - i) and the like, which have the branch
// cuts of the standard.
template <typename T>
complex<T> asinh(const complex<T>& z) {
  const complex<T> i(T(0), T(1));
  return log(z + sqrt(T(1) + i * z) * sqrt(T(1) - i * z));
}
template <typename T>
complex<T> acosh(const complex<T>& z) {
  return log(z + sqrt(z + T(1)) * sqrt(z - T(1)));
}
template <typename T>
complex<T> atanh(const complex<T>& z) {
  return (log(T(1) + z) - log(T(1) - z)) / T(2);
}
template <typename T>
complex<T> asin(const complex<T>& z) {
  complex<T> turned = asinh(complex<T>(-z.imag(), z.real()));
  return {turned.imag(), -turned.real()};
}
template <typename T>
complex<T> acos(const complex<T>& z) {
  return T(1.57079632679489661923132169163975144) - asin(z);
}
template <typename T>
complex<T> atan(const complex<T>& z) {
  complex<T> turned = atanh(complex<T>(-z.imag(), z.real()));
  return {turned.imag(), -turned.real()};
}
template <typename T, typename C, typename Traits>
std::basic_ostream<C, Traits>& operator<<(std::basic_ostream<C, Traits>& out, const complex<T>& z) {
  return out << '(' << z.real() << ',' << z.imag() << ')';
}
template <typename T, typename C, typename Traits>
std::basic_istream<C, Traits>& operator>>(std::basic_istream<C, Traits>& in, complex<T>& z) {
  std::complex<T> read;
  in >> read;
  z = complex<T>(read);
  return in;
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
