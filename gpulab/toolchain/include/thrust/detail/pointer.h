// Pointers that know their system: thrust::pointer, device_ptr, universal_ptr.
#pragma once
#include "../device_reference.h"
#include "../iterator/iterator_traits.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace detail {
template <typename T>
using device_reference_to = std::conditional_t<std::is_void_v<T>, void, device_reference<T>>;
}
template <typename T, typename Tag, typename Reference>
class tagged_pointer {
  T* address;

 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using raw_pointer = T*;
  using pointer = tagged_pointer;
  using reference = std::conditional_t<std::is_void_v<T>, void, Reference>;
  using difference_type = ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  using thrust_system = Tag;
  template <typename U>
  using rebind = tagged_pointer<U, Tag, std::conditional_t<std::is_lvalue_reference_v<Reference>,
                                                            std::add_lvalue_reference_t<U>,
                                                            detail::device_reference_to<U>>>;

  tagged_pointer() : address(nullptr) {}
  tagged_pointer(std::nullptr_t) : address(nullptr) {}
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*> || std::is_void_v<U>>>
  explicit tagged_pointer(U* place) : address(static_cast<T*>(place)) {}
  template <typename U, typename R, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  tagged_pointer(const tagged_pointer<U, Tag, R>& other) : address(other.get()) {}
  // from void*, as malloc gives it
  template <typename U, typename R, typename = void,
            typename = std::enable_if_t<std::is_void_v<U> && !std::is_void_v<T>>>
  explicit tagged_pointer(const tagged_pointer<U, Tag, R>& other) : address(static_cast<T*>(other.get())) {}

  T* get() const { return address; }
  explicit operator bool() const { return address != nullptr; }
  template <typename Element>
  static tagged_pointer pointer_to(Element&& one) { return tagged_pointer(&thrust::raw_reference_cast(one)); }

  reference operator*() const {
    if constexpr (std::is_lvalue_reference_v<Reference>)
      return *address;
    else
      return Reference(address);
  }
  T* operator->() const {
    static_assert(std::is_lvalue_reference_v<Reference>,
                  "the host cannot reach into an element of device memory by ->: copy it (T value = *pointer;), or use "
                  "raw_pointer_cast(pointer) in a kernel");
    return address;
  }
  template <typename N>
  decltype(auto) operator[](N n) const {
    return *(*this + static_cast<ptrdiff_t>(n));
  }
  tagged_pointer& operator++() { return ++address, *this; }
  tagged_pointer& operator--() { return --address, *this; }
  tagged_pointer operator++(int) { return tagged_pointer(address++); }
  tagged_pointer operator--(int) { return tagged_pointer(address--); }
  tagged_pointer& operator+=(ptrdiff_t n) { return address += n, *this; }
  tagged_pointer& operator-=(ptrdiff_t n) { return address -= n, *this; }
  tagged_pointer operator+(ptrdiff_t n) const { return tagged_pointer(address + n); }
  tagged_pointer operator-(ptrdiff_t n) const { return tagged_pointer(address - n); }
  friend tagged_pointer operator+(ptrdiff_t n, const tagged_pointer& it) { return it + n; }
};
#define THRUST_DETAIL_COMPARE(sign)                                                                  \
  template <typename T, typename U, typename Tag, typename R, typename Q>                            \
  auto operator sign(const tagged_pointer<T, Tag, R>& a, const tagged_pointer<U, Tag, Q>& b) {                     \
    return a.get() sign b.get();                                                                     \
  }
THRUST_DETAIL_COMPARE(==)
THRUST_DETAIL_COMPARE(!=)
THRUST_DETAIL_COMPARE(<)
THRUST_DETAIL_COMPARE(>)
THRUST_DETAIL_COMPARE(<=)
THRUST_DETAIL_COMPARE(>=)
THRUST_DETAIL_COMPARE(-)
#undef THRUST_DETAIL_COMPARE
template <typename T, typename Tag, typename R>
bool operator==(const tagged_pointer<T, Tag, R>& a, std::nullptr_t) {
  return a.get() == nullptr;
}
template <typename T, typename Tag, typename R>
bool operator!=(const tagged_pointer<T, Tag, R>& a, std::nullptr_t) {
  return a.get() != nullptr;
}
template <typename Character, typename Traits, typename T, typename Tag, typename R>
__host__ std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out,
                                                           const tagged_pointer<T, Tag, R>& one) {
  return out << one.get();
}

template <typename T, typename Tag = device_system_tag,
          typename Reference =
              std::conditional_t<std::is_same_v<Tag, host_system_tag>, std::add_lvalue_reference_t<T>,
                                 detail::device_reference_to<T>>>
using pointer = tagged_pointer<T, Tag, Reference>;
template <typename T>
using device_ptr = tagged_pointer<T, device_system_tag, detail::device_reference_to<T>>;
template <typename T>
using universal_ptr = tagged_pointer<T, device_system_tag, std::add_lvalue_reference_t<T>>;

template <typename T>
device_ptr<T> device_pointer_cast(T* address) {
  return device_ptr<T>(address);
}
template <typename T>
device_ptr<T> device_pointer_cast(const device_ptr<T>& address) {
  return address;
}
template <typename T>
T* raw_pointer_cast(T* address) {
  return address;
}
template <typename T, typename Tag, typename R>
T* raw_pointer_cast(const tagged_pointer<T, Tag, R>& address) {
  return address.get();
}
namespace detail {
template <typename T, typename Tag, typename R>
struct unwrapped<tagged_pointer<T, Tag, R>> {
  static T* of(const tagged_pointer<T, Tag, R>& it) { return it.get(); }
};
}  // namespace detail
}  // namespace thrust
#pragma clang force_cuda_host_device end
