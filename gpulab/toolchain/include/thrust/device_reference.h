// thrust::device_reference: an element in device memory, which the host reads and writes by copies.
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <ostream>

#include "detail/error.h"
#include "detail/systems.h"

namespace thrust::detail {
inline __host__ void read_element(void* to, const void* from, size_t bytes) {
  check(hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost), "an element of device memory could not be read");
}
inline __host__ void write_element(void* to, const void* from, size_t bytes) {
  check(hipMemcpy(to, from, bytes, hipMemcpyHostToDevice), "an element of device memory could not be written");
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename T, typename Tag, typename Reference>
class tagged_pointer;
template <typename T>
class device_reference;
namespace detail {
template <typename T>
inline constexpr bool is_device_reference = false;
template <typename T>
inline constexpr bool is_device_reference<device_reference<T>> = true;
}  // namespace detail

template <typename T>
class device_reference {
  T* address;
  using plain = std::remove_cv_t<T>;

  plain read() const {
#ifdef __HIP_DEVICE_COMPILE__
    return *address;
#else
    union room {  // for types without a default constructor
      plain value;
      room() {}
      ~room() { value.~plain(); }
    } found;
    detail::read_element(&found, address, sizeof(T));
    return found.value;
#endif
  }
  void write(const plain& value) const {
    static_assert(!std::is_const_v<T>, "an element of constant type cannot be written");
#ifdef __HIP_DEVICE_COMPILE__
    *address = value;
#else
    detail::write_element(const_cast<plain*>(address), &value, sizeof(T));
#endif
  }
  template <typename Change>
  device_reference changed(Change change) const {
    plain value = read();
    change(value);
    write(value);
    return *this;
  }

 public:
  using value_type = plain;
  using pointer = tagged_pointer<T, device_system_tag, device_reference<T>>;
  explicit device_reference(T* place) : address(place) {}
  explicit device_reference(const pointer& place) : address(place.get()) {}
  device_reference(const device_reference&) = default;
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*> && !std::is_same_v<U, T>>>
  device_reference(const device_reference<U>& other) : address((&other).get()) {}

  operator plain() const { return read(); }
  pointer operator&() const { return pointer(address); }
  const device_reference& operator=(const device_reference& other) const {
    write(other.read());
    return *this;
  }
  device_reference& operator=(const device_reference& other) {
    write(other.read());
    return *this;
  }
  template <typename U>
  const device_reference& operator=(const device_reference<U>& other) const {
    write(static_cast<plain>(static_cast<std::remove_cv_t<U>>(other)));
    return *this;
  }
  const device_reference& operator=(const plain& value) const {
    write(value);
    return *this;
  }
  void swap(device_reference other) const {
    plain mine = read();
    write(other.read());
    other.write(mine);
  }
  device_reference operator++() const {
    return changed([](plain& value) { ++value; });
  }
  device_reference operator--() const {
    return changed([](plain& value) { --value; });
  }
  plain operator++(int) const {
    plain before = read();
    ++*this;
    return before;
  }
  plain operator--(int) const {
    plain before = read();
    --*this;
    return before;
  }
#define THRUST_DETAIL_CHANGE(sign)                                    \
  device_reference operator sign(const plain & other) const {         \
    return changed([&](plain& value) { value sign other; });          \
  }
  THRUST_DETAIL_CHANGE(+=)
  THRUST_DETAIL_CHANGE(-=)
  THRUST_DETAIL_CHANGE(*=)
  THRUST_DETAIL_CHANGE(/=)
  THRUST_DETAIL_CHANGE(%=)
  THRUST_DETAIL_CHANGE(<<=)
  THRUST_DETAIL_CHANGE(>>=)
  THRUST_DETAIL_CHANGE(&=)
  THRUST_DETAIL_CHANGE(|=)
  THRUST_DETAIL_CHANGE(^=)
#undef THRUST_DETAIL_CHANGE
};
template <typename T>
void swap(const device_reference<T>& a, const device_reference<T>& b) {
  a.swap(b);
}
template <typename Character, typename Traits, typename T>
__host__ std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out,
                                                           const device_reference<T>& one) {
  return out << static_cast<std::remove_cv_t<T>>(one);
}
template <typename T>
T& raw_reference_cast(const device_reference<T>& one) {
  return *(&one).get();
}
template <typename T>
T& raw_reference_cast(T& one) {
  return one;
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
