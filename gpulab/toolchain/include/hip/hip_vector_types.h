// Vector types: char1 to double4, with HIP's constructors, operators and alignment.
//
// HIP_vector_type<T, n> has members x, y, z, w. Two- and four-element types are aligned to their size, so that one
// instruction loads them (float4: 16 bytes); three-element types are aligned as their element (float3: 12 bytes).
#pragma once
#include "../gpulab/names.h"
#include "../gpulab/definitions.h"
#include "../gpulab/traits.h"

template <typename T, unsigned n>
struct HIP_vector_type;

// Operators by element. `V` is the vector, `T` its element, `EACH(f)` the list f(x), f(y), ...
// As in HIP, those of two operands are free templates, so that a program's own operator for the same types is chosen.
#define __GPULAB_VV__(member, op) static_cast<T>(a.member op b.member)
#define __GPULAB_VS__(member, op) static_cast<T>(a.member op static_cast<T>(b))
#define __GPULAB_SV__(member, op) static_cast<T>(static_cast<T>(a) op b.member)
#define __GPULAB_MV__(member, op) static_cast<T>(member op b.member)
#define __GPULAB_MS__(member, op) static_cast<T>(member op static_cast<T>(b))
#define __GPULAB_V__(member, op) static_cast<T>(op member)
#define __GPULAB_IF_INTEGER__ typename = gpulab::enable_if_t<__is_integral(T)>
#define __GPULAB_SCALAR__ typename U, typename = decltype(static_cast<T>(U()))

// In C++11, a constexpr member function is const.
#if __cplusplus >= 201402L
#define __GPULAB_CHANGES__ constexpr
#else
#define __GPULAB_CHANGES__
#endif

#define __GPULAB_COMPOUND__(op, EACH)                                                                           \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V& operator op##=(const V& b) { return *this = V(EACH(__GPULAB_MV__, op)); } \
  template <__GPULAB_SCALAR__>                                                                                  \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V& operator op##=(U b) { return *this = V(EACH(__GPULAB_MS__, op)); }
#define __GPULAB_COMPOUND_INTEGER__(op, EACH)                                                                   \
  template <typename W = T, typename = gpulab::enable_if_t<__is_integral(W)>>                                   \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V& operator op##=(const V& b) { return *this = V(EACH(__GPULAB_MV__, op)); } \
  template <__GPULAB_SCALAR__, typename W = T, typename = gpulab::enable_if_t<__is_integral(W)>>                \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V& operator op##=(U b) { return *this = V(EACH(__GPULAB_MS__, op)); }

#define __GPULAB_VECTOR_MEMBERS__(EACH)                                                                         \
  using value_type = T;                                                                                         \
  constexpr HIP_vector_type() = default;                                                                        \
  __GPULAB_COMPOUND__(+, EACH)                                                                                  \
  __GPULAB_COMPOUND__(-, EACH)                                                                                  \
  __GPULAB_COMPOUND__(*, EACH)                                                                                  \
  __GPULAB_COMPOUND__(/, EACH)                                                                                  \
  __GPULAB_COMPOUND_INTEGER__(%, EACH)                                                                          \
  __GPULAB_COMPOUND_INTEGER__(&, EACH)                                                                          \
  __GPULAB_COMPOUND_INTEGER__(|, EACH)                                                                          \
  __GPULAB_COMPOUND_INTEGER__(^, EACH)                                                                          \
  __GPULAB_COMPOUND_INTEGER__(<<, EACH)                                                                         \
  __GPULAB_COMPOUND_INTEGER__(>>, EACH)                                                                         \
  template <typename W = T>                                                                                     \
  __GPULAB_MEMBER__ constexpr V operator-() const { return V(EACH(__GPULAB_V__, -)); }                          \
  template <typename W = T>                                                                                     \
  __GPULAB_MEMBER__ constexpr V operator+() const { return *this; }                                             \
  template <typename W = T, typename = gpulab::enable_if_t<__is_integral(W)>>                                   \
  __GPULAB_MEMBER__ constexpr V operator~() const { return V(EACH(__GPULAB_V__, ~)); }                          \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V& operator++() { return *this += T(1); }                                \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V& operator--() { return *this -= T(1); }                                \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V operator++(int) { V old = *this; *this += T(1); return old; }          \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ V operator--(int) { V old = *this; *this -= T(1); return old; }          \
  __GPULAB_MEMBER__ __GPULAB_CHANGES__ T& operator[](unsigned i) { return (&x)[i]; }                            \
  __GPULAB_MEMBER__ constexpr const T& operator[](unsigned i) const { return (&x)[i]; }

#define __GPULAB_EACH1__(f, op) f(x, op)
#define __GPULAB_EACH2__(f, op) f(x, op), f(y, op)
#define __GPULAB_EACH3__(f, op) f(x, op), f(y, op), f(z, op)
#define __GPULAB_EACH4__(f, op) f(x, op), f(y, op), f(z, op), f(w, op)

template <typename T>
struct HIP_vector_type<T, 1> {
  using V = HIP_vector_type<T, 1>;
  T x;
  template <typename A, typename = decltype(static_cast<T>(A()))>
  __GPULAB_MEMBER__ constexpr HIP_vector_type(A a) : x(static_cast<T>(a)) {}
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH1__)
};

template <typename T>
struct alignas(2 * sizeof(T)) HIP_vector_type<T, 2> {
  using V = HIP_vector_type<T, 2>;
  T x, y;
  template <typename A, typename = decltype(static_cast<T>(A()))>
  __GPULAB_MEMBER__ constexpr explicit HIP_vector_type(A a) : x(static_cast<T>(a)), y(static_cast<T>(a)) {}
  template <typename A, typename B>
  __GPULAB_MEMBER__ constexpr HIP_vector_type(A a, B b) : x(static_cast<T>(a)), y(static_cast<T>(b)) {}
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH2__)
};

template <typename T>
struct HIP_vector_type<T, 3> {
  using V = HIP_vector_type<T, 3>;
  T x, y, z;
  template <typename A, typename = decltype(static_cast<T>(A()))>
  __GPULAB_MEMBER__ constexpr explicit HIP_vector_type(A a)
      : x(static_cast<T>(a)), y(static_cast<T>(a)), z(static_cast<T>(a)) {}
  template <typename A, typename B, typename C>
  __GPULAB_MEMBER__ constexpr HIP_vector_type(A a, B b, C c)
      : x(static_cast<T>(a)), y(static_cast<T>(b)), z(static_cast<T>(c)) {}
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH3__)
};

template <typename T>
struct alignas(4 * sizeof(T)) HIP_vector_type<T, 4> {
  using V = HIP_vector_type<T, 4>;
  T x, y, z, w;
  template <typename A, typename = decltype(static_cast<T>(A()))>
  __GPULAB_MEMBER__ constexpr explicit HIP_vector_type(A a)
      : x(static_cast<T>(a)), y(static_cast<T>(a)), z(static_cast<T>(a)), w(static_cast<T>(a)) {}
  template <typename A, typename B, typename C, typename D>
  __GPULAB_MEMBER__ constexpr HIP_vector_type(A a, B b, C c, D d)
      : x(static_cast<T>(a)), y(static_cast<T>(b)), z(static_cast<T>(c)), w(static_cast<T>(d)) {}
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH4__)
};

#define __GPULAB_BINARY__(n, op, EACH, ...)                                                                     \
  template <typename T __VA_ARGS__>                                                                             \
  __GPULAB_BOTH__ constexpr HIP_vector_type<T, n> operator op(const HIP_vector_type<T, n>& a,                   \
                                                              const HIP_vector_type<T, n>& b) {                 \
    return HIP_vector_type<T, n>(EACH(__GPULAB_VV__, op));                                                      \
  }                                                                                                             \
  template <typename T, __GPULAB_SCALAR__ __VA_ARGS__>                                                          \
  __GPULAB_BOTH__ constexpr HIP_vector_type<T, n> operator op(const HIP_vector_type<T, n>& a, U b) {            \
    return HIP_vector_type<T, n>(EACH(__GPULAB_VS__, op));                                                      \
  }                                                                                                             \
  template <typename T, __GPULAB_SCALAR__ __VA_ARGS__>                                                          \
  __GPULAB_BOTH__ constexpr HIP_vector_type<T, n> operator op(U a, const HIP_vector_type<T, n>& b) {            \
    return HIP_vector_type<T, n>(EACH(__GPULAB_SV__, op));                                                      \
  }
#define __GPULAB_OPERATORS__(n, EACH)                                                                           \
  __GPULAB_BINARY__(n, +, EACH)                                                                                 \
  __GPULAB_BINARY__(n, -, EACH)                                                                                 \
  __GPULAB_BINARY__(n, *, EACH)                                                                                 \
  __GPULAB_BINARY__(n, /, EACH)                                                                                 \
  __GPULAB_BINARY__(n, %, EACH, , __GPULAB_IF_INTEGER__)                                                        \
  __GPULAB_BINARY__(n, &, EACH, , __GPULAB_IF_INTEGER__)                                                        \
  __GPULAB_BINARY__(n, |, EACH, , __GPULAB_IF_INTEGER__)                                                        \
  __GPULAB_BINARY__(n, ^, EACH, , __GPULAB_IF_INTEGER__)                                                        \
  __GPULAB_BINARY__(n, <<, EACH, , __GPULAB_IF_INTEGER__)                                                       \
  __GPULAB_BINARY__(n, >>, EACH, , __GPULAB_IF_INTEGER__)
__GPULAB_OPERATORS__(1, __GPULAB_EACH1__)
__GPULAB_OPERATORS__(2, __GPULAB_EACH2__)
__GPULAB_OPERATORS__(3, __GPULAB_EACH3__)
__GPULAB_OPERATORS__(4, __GPULAB_EACH4__)

template <typename T, unsigned n>
__GPULAB_BOTH__ constexpr bool operator==(const HIP_vector_type<T, n>& a, const HIP_vector_type<T, n>& b) {
  if constexpr (n == 1) {
    return a.x == b.x;
  } else if constexpr (n == 2) {
    return a.x == b.x && a.y == b.y;
  } else if constexpr (n == 3) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  } else {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
  }
}
template <typename T, unsigned n, __GPULAB_SCALAR__>
__GPULAB_BOTH__ constexpr bool operator==(const HIP_vector_type<T, n>& a, U b) {
  return a == HIP_vector_type<T, n>(b);
}
template <typename T, unsigned n, __GPULAB_SCALAR__>
__GPULAB_BOTH__ constexpr bool operator==(U a, const HIP_vector_type<T, n>& b) {
  return HIP_vector_type<T, n>(a) == b;
}
template <typename T, unsigned n>
__GPULAB_BOTH__ constexpr bool operator!=(const HIP_vector_type<T, n>& a, const HIP_vector_type<T, n>& b) {
  return !(a == b);
}
template <typename T, unsigned n, __GPULAB_SCALAR__>
__GPULAB_BOTH__ constexpr bool operator!=(const HIP_vector_type<T, n>& a, U b) {
  return !(a == b);
}
template <typename T, unsigned n, __GPULAB_SCALAR__>
__GPULAB_BOTH__ constexpr bool operator!=(U a, const HIP_vector_type<T, n>& b) {
  return !(a == b);
}

#undef __GPULAB_OPERATORS__
#undef __GPULAB_BINARY__
#undef __GPULAB_CHANGES__
#undef __GPULAB_COMPOUND__
#undef __GPULAB_COMPOUND_INTEGER__
#undef __GPULAB_IF_INTEGER__
#undef __GPULAB_SCALAR__
#undef __GPULAB_VECTOR_MEMBERS__
#undef __GPULAB_VV__
#undef __GPULAB_VS__
#undef __GPULAB_SV__
#undef __GPULAB_MV__
#undef __GPULAB_MS__
#undef __GPULAB_V__
#undef __GPULAB_EACH1__
#undef __GPULAB_EACH2__
#undef __GPULAB_EACH3__
#undef __GPULAB_EACH4__

#define __GPULAB_VECTORS__(name, T)                                                                       \
  using name##1 = HIP_vector_type<T, 1>;                                                                  \
  using name##2 = HIP_vector_type<T, 2>;                                                                  \
  using name##3 = HIP_vector_type<T, 3>;                                                                  \
  using name##4 = HIP_vector_type<T, 4>;                                                                  \
  __GPULAB_BOTH__ constexpr name##1 make_##name##1(T x) { return name##1(x); }                            \
  __GPULAB_BOTH__ constexpr name##2 make_##name##2(T x, T y) { return name##2(x, y); }                    \
  __GPULAB_BOTH__ constexpr name##3 make_##name##3(T x, T y, T z) { return name##3(x, y, z); }            \
  __GPULAB_BOTH__ constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }

__GPULAB_VECTORS__(char, char)
__GPULAB_VECTORS__(uchar, unsigned char)
__GPULAB_VECTORS__(short, short)
__GPULAB_VECTORS__(ushort, unsigned short)
__GPULAB_VECTORS__(int, int)
__GPULAB_VECTORS__(uint, unsigned int)
__GPULAB_VECTORS__(long, long)
__GPULAB_VECTORS__(ulong, unsigned long)
__GPULAB_VECTORS__(longlong, long long)
__GPULAB_VECTORS__(ulonglong, unsigned long long)
__GPULAB_VECTORS__(float, float)
__GPULAB_VECTORS__(double, double)
#undef __GPULAB_VECTORS__
#include "../gpulab/names_end.h"
