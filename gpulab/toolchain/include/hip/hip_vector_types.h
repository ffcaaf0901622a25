// Vector types: char1 to double4, with HIP's constructors, operators and alignment.
//
// HIP_vector_type<T, n> has members x, y, z, w. Two- and four-element types are aligned to their size, so that one
// instruction loads them (float4: 16 bytes); three-element types are aligned as their element (float3: 12 bytes).
#pragma once
#include "../gpulab/definitions.h"

template <typename T, unsigned n>
struct HIP_vector_type;

// Operators by element. `V` is the vector, `T` its element, `EACH(f)` the list f(x), f(y), ...
#define __GPULAB_VECTOR_BINARY__(op, EACH)                                                                      \
  friend __GPULAB_MEMBER__ constexpr V operator op(const V& a, const V& b) { return V(EACH(__GPULAB_VV__, op)); } \
  friend __GPULAB_MEMBER__ constexpr V operator op(const V& a, T b) { return V(EACH(__GPULAB_VS__, op)); }        \
  friend __GPULAB_MEMBER__ constexpr V operator op(T a, const V& b) { return V(EACH(__GPULAB_SV__, op)); }        \
  __GPULAB_MEMBER__ constexpr V& operator op##=(const V& b) { return *this = *this op b; }                        \
  __GPULAB_MEMBER__ constexpr V& operator op##=(T b) { return *this = *this op b; }
#define __GPULAB_VV__(member, op) static_cast<T>(a.member op b.member)
#define __GPULAB_VS__(member, op) static_cast<T>(a.member op b)
#define __GPULAB_SV__(member, op) static_cast<T>(a op b.member)
#define __GPULAB_V__(member, op) static_cast<T>(op member)

#define __GPULAB_VECTOR_MEMBERS__(EACH, ALL)                                                                    \
  using value_type = T;                                                                                         \
  constexpr HIP_vector_type() = default;                                                                        \
  __GPULAB_VECTOR_BINARY__(+, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(-, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(*, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(/, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(%, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(&, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(|, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(^, EACH)                                                                             \
  __GPULAB_VECTOR_BINARY__(<<, EACH)                                                                            \
  __GPULAB_VECTOR_BINARY__(>>, EACH)                                                                            \
  __GPULAB_MEMBER__ constexpr V operator-() const { return V(EACH(__GPULAB_V__, -)); }                          \
  __GPULAB_MEMBER__ constexpr V operator+() const { return *this; }                                             \
  __GPULAB_MEMBER__ constexpr V operator~() const { return V(EACH(__GPULAB_V__, ~)); }                          \
  __GPULAB_MEMBER__ constexpr V& operator++() { return *this = *this + T(1); }                                  \
  __GPULAB_MEMBER__ constexpr V& operator--() { return *this = *this - T(1); }                                  \
  __GPULAB_MEMBER__ constexpr V operator++(int) { V old = *this; *this = *this + T(1); return old; }            \
  __GPULAB_MEMBER__ constexpr V operator--(int) { V old = *this; *this = *this - T(1); return old; }            \
  friend __GPULAB_MEMBER__ constexpr bool operator==(const V& a, const V& b) { return ALL; }                    \
  friend __GPULAB_MEMBER__ constexpr bool operator!=(const V& a, const V& b) { return !(a == b); }              \
  __GPULAB_MEMBER__ constexpr T& operator[](unsigned i) { return (&x)[i]; }                                     \
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
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH1__, a.x == b.x)
};

template <typename T>
struct alignas(2 * sizeof(T)) HIP_vector_type<T, 2> {
  using V = HIP_vector_type<T, 2>;
  T x, y;
  template <typename A, typename = decltype(static_cast<T>(A()))>
  __GPULAB_MEMBER__ constexpr explicit HIP_vector_type(A a) : x(static_cast<T>(a)), y(static_cast<T>(a)) {}
  template <typename A, typename B>
  __GPULAB_MEMBER__ constexpr HIP_vector_type(A a, B b) : x(static_cast<T>(a)), y(static_cast<T>(b)) {}
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH2__, a.x == b.x && a.y == b.y)
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
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH3__, a.x == b.x && a.y == b.y && a.z == b.z)
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
  __GPULAB_VECTOR_MEMBERS__(__GPULAB_EACH4__, a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w)
};

#undef __GPULAB_VECTOR_BINARY__
#undef __GPULAB_VECTOR_MEMBERS__
#undef __GPULAB_VV__
#undef __GPULAB_VS__
#undef __GPULAB_SV__
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
