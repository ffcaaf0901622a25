// What thrust::host_vector, device_vector and universal_vector have in common.
#pragma once
#include "config.h"  // first: it says what is wrong in a cell of kernels
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "../copy.h"
#include "../iterator/reverse_iterator.h"
#include "../memory.h"
#include "../uninitialized_copy.h"
#include "../uninitialized_fill.h"

#pragma clang force_cuda_host_device begin
namespace thrust::detail {
template <typename Allocator, typename T, typename = void>
inline constexpr bool constructs = false;
template <typename Allocator, typename T>
inline constexpr bool
    constructs<Allocator, T, std::void_t<decltype(std::declval<Allocator&>().construct(std::declval<T*>()))>> =
        !std::is_same_v<Allocator, std::allocator<T>>;

template <typename Policy, typename Allocator, typename T>
void construct_default(const execution_policy<Policy>& policy, Allocator allocator, T* to, size_t count) {
  if constexpr (constructs<Allocator, T>) {  // the allocator's own way, which may be to do nothing
    for_indices(policy, count, [=](size_t i) mutable { allocator.construct(to + i); });
  } else if constexpr (on_device<Policy> && std::is_trivially_default_constructible_v<T>) {
    set_memory<unsigned char>(parallel::host_settings(policy.derived()), reinterpret_cast<unsigned char*>(to),
                              count * sizeof(T), 0);
    parallel::finish(parallel::host_settings(policy.derived()));
  } else {
    for_indices(policy, count, [=](size_t i) { ::new (static_cast<void*>(to + i)) T(); });
  }
}
template <typename Policy, typename T>
void destroy(const execution_policy<Policy>& policy, T* at, size_t count) {
  if constexpr (!std::is_trivially_destructible_v<T>) for_indices(policy, count, [=](size_t i) { at[i].~T(); });
}
}  // namespace thrust::detail
#pragma clang force_cuda_host_device end

namespace thrust::detail {
template <typename Iterator>
using when_iterator = typename std::iterator_traits<Iterator>::iterator_category;

template <typename T, typename Allocator>
class vector {
  using traits = std::allocator_traits<Allocator>;

 public:
  using value_type = T;
  using allocator_type = Allocator;
  using pointer = typename traits::pointer;
  using const_pointer = typename std::pointer_traits<pointer>::template rebind<const T>;
  using reference = typename std::iterator_traits<pointer>::reference;
  using const_reference = typename std::iterator_traits<const_pointer>::reference;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using iterator = pointer;
  using const_iterator = const_pointer;
  using reverse_iterator = thrust::reverse_iterator<iterator>;
  using const_reverse_iterator = thrust::reverse_iterator<const_iterator>;

 private:
  using system = iterator_system_t<pointer>;
  Allocator memory;
  pointer first{};
  size_t count = 0;
  size_t room = 0;

  __host__ static void fit(size_t n) {
    if (n > static_cast<size_t>(PTRDIFF_MAX) / sizeof(T))
      throw std::length_error("a vector of Thrust: too many elements");
  }
  __host__ pointer allocate(size_t n) {
    fit(n);
    return n ? traits::allocate(memory, n) : pointer();
  }
  __host__ static T* raw(pointer it) { return thrust::raw_pointer_cast(it); }
  __host__ void release() {
    detail::destroy(system(), raw(first), count);
    if (room) traits::deallocate(memory, first, room);
    first = pointer();
    count = room = 0;
  }
  /// Moves the elements to new memory with that much room.
  __host__ void move_to(size_t wanted) {
    pointer next = allocate(wanted);
    if constexpr (on_device<system> || std::is_trivially_copyable_v<T>) {
      thrust::uninitialized_copy_n(system(), first, count, next);
    } else {
      for (size_t i = 0; i < count; ++i) ::new (static_cast<void*>(raw(next) + i)) T(std::move(raw(first)[i]));
    }
    size_t kept = count;
    release();
    first = next;
    count = kept;
    room = wanted;
  }
  __host__ void grow(size_t wanted) {
    fit(wanted);
    if (wanted > room) move_to(wanted > 2 * room ? wanted : 2 * room);
  }
  template <typename Iterator>
  __host__ void append(Iterator from, Iterator to) {
    using category = typename std::iterator_traits<Iterator>::iterator_category;
    if constexpr (!std::is_base_of_v<std::forward_iterator_tag, category>) {
      for (; from != to; ++from) push_back(static_cast<T>(*from));
    } else {
      size_t more = static_cast<size_t>(thrust::distance(from, to));
      grow(count + more);
      thrust::uninitialized_copy_n(from, more, first + count);
      count += more;
    }
  }
  /// Makes room for more elements at a place; gives the elements that stood from there on.
  template <typename Put>
  __host__ iterator put_in(const_iterator where, size_t more, Put put) {
    size_t place = static_cast<size_t>(where - cbegin());
    if (more == 0) return first + place;
    vector after(first + place, first + count, memory);
    resize_down(place);
    grow(place + more + after.size());
    put();
    append(after.cbegin(), after.cend());
    return first + place;
  }
  __host__ void resize_down(size_t n) {
    detail::destroy(system(), raw(first) + n, count - n);
    count = n;
  }

 public:
  __host__ vector() = default;
  __host__ explicit vector(const Allocator& allocator) : memory(allocator) {}
  __host__ explicit vector(size_t n) { resize(n); }
  __host__ vector(size_t n, const Allocator& allocator) : memory(allocator) { resize(n); }
  __host__ vector(size_t n, const T& value) { resize(n, value); }
  __host__ vector(size_t n, const T& value, const Allocator& allocator) : memory(allocator) { resize(n, value); }
  template <typename Iterator, typename = when_iterator<Iterator>>
  __host__ vector(Iterator from, Iterator to) {
    append(from, to);
  }
  template <typename Iterator, typename = when_iterator<Iterator>>
  __host__ vector(Iterator from, Iterator to, const Allocator& allocator) : memory(allocator) {
    append(from, to);
  }
  __host__ vector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  __host__ vector(std::initializer_list<T> values, const Allocator& allocator) : memory(allocator) {
    append(values.begin(), values.end());
  }
  __host__ vector(const vector& other) : memory(other.memory) { append(other.begin(), other.end()); }
  __host__ vector(const vector& other, const Allocator& allocator) : memory(allocator) {
    append(other.begin(), other.end());
  }
  __host__ vector(vector&& other) noexcept : memory(other.memory) { swap(other); }
  template <typename U, typename OtherAllocator>
  __host__ vector(const vector<U, OtherAllocator>& other) {
    append(other.begin(), other.end());
  }
  template <typename U, typename OtherAllocator>
  __host__ vector(const std::vector<U, OtherAllocator>& other) {
    append(other.begin(), other.end());
  }
  // At the end of a program the device may be gone already; a vector with static storage lives as long.
  __host__ ~vector() {
    try {
      release();
    } catch (...) {
    }
  }

  __host__ vector& operator=(const vector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  __host__ vector& operator=(vector&& other) noexcept {
    swap(other);
    return *this;
  }
  template <typename U, typename OtherAllocator>
  __host__ vector& operator=(const vector<U, OtherAllocator>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  template <typename U, typename OtherAllocator>
  __host__ vector& operator=(const std::vector<U, OtherAllocator>& other) {
    assign(other.begin(), other.end());
    return *this;
  }
  __host__ vector& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end());
    return *this;
  }
  template <typename Iterator, typename = when_iterator<Iterator>>
  __host__ void assign(Iterator from, Iterator to) {
    clear();
    append(from, to);
  }
  __host__ void assign(size_t n, const T& value) {
    T kept = value;
    clear();
    resize(n, kept);
  }
  __host__ void assign(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  __host__ size_t size() const { return count; }
  __host__ size_t max_size() const { return static_cast<size_t>(PTRDIFF_MAX) / sizeof(T); }
  __host__ size_t capacity() const { return room; }
  __host__ bool empty() const { return count == 0; }
  __host__ void reserve(size_t n) {
    fit(n);
    if (n > room) move_to(n);
  }
  __host__ void shrink_to_fit() {
    if (room > count) move_to(count);
  }
  __host__ void resize(size_t n) {
    if (n < count) return resize_down(n);
    if (n == count) return;
    grow(n);
    construct_default(system(), memory, raw(first) + count, n - count);
    count = n;
  }
  __host__ void resize(size_t n, const T& value) {
    if (n < count) return resize_down(n);
    if (n == count) return;
    T kept = value;
    grow(n);
    thrust::uninitialized_fill_n(first + count, n - count, kept);
    count = n;
  }
  __host__ void clear() { resize_down(0); }

  __host__ iterator begin() { return first; }
  __host__ iterator end() { return first + count; }
  __host__ const_iterator begin() const { return const_iterator(first); }
  __host__ const_iterator end() const { return const_iterator(first + count); }
  __host__ const_iterator cbegin() const { return begin(); }
  __host__ const_iterator cend() const { return end(); }
  __host__ reverse_iterator rbegin() { return reverse_iterator(end()); }
  __host__ reverse_iterator rend() { return reverse_iterator(begin()); }
  __host__ const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  __host__ const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  __host__ const_reverse_iterator crbegin() const { return rbegin(); }
  __host__ const_reverse_iterator crend() const { return rend(); }
  __host__ pointer data() { return first; }
  __host__ const_pointer data() const { return const_pointer(first); }
  __host__ reference operator[](size_t i) { return *(first + static_cast<ptrdiff_t>(i)); }
  __host__ const_reference operator[](size_t i) const { return *(begin() + static_cast<ptrdiff_t>(i)); }
  __host__ reference front() { return *first; }
  __host__ const_reference front() const { return *begin(); }
  __host__ reference back() { return (*this)[count - 1]; }
  __host__ const_reference back() const { return (*this)[count - 1]; }
  __host__ Allocator get_allocator() const { return memory; }

  __host__ void push_back(const T& value) {
    if (count < room) {
      thrust::uninitialized_copy_n(&value, 1, first + count);
    } else {
      T kept = value;  // it may be an element of this vector
      grow(count + 1);
      thrust::uninitialized_copy_n(&kept, 1, first + count);
    }
    ++count;
  }
  template <typename... A>
  __host__ reference emplace_back(A&&... given) {
    push_back(T(static_cast<A&&>(given)...));
    return back();
  }
  __host__ void pop_back() { resize_down(count - 1); }
  __host__ iterator insert(const_iterator where, const T& value) {
    return insert(where, static_cast<size_t>(1), value);
  }
  __host__ iterator insert(const_iterator where, size_t n, const T& value) {
    T kept = value;
    return put_in(where, n, [&] { resize(count + n, kept); });
  }
  template <typename Iterator, typename = when_iterator<Iterator>>
  __host__ iterator insert(const_iterator where, Iterator from, Iterator to) {
    vector middle(from, to, memory);  // the range may be a part of this vector
    return put_in(where, middle.size(), [&] { append(middle.cbegin(), middle.cend()); });
  }
  __host__ iterator insert(const_iterator where, std::initializer_list<T> values) {
    return insert(where, values.begin(), values.end());
  }
  __host__ iterator erase(const_iterator where) { return erase(where, where + 1); }
  __host__ iterator erase(const_iterator from, const_iterator to) {
    size_t place = static_cast<size_t>(from - cbegin());
    if (from == to) return first + place;
    if (to == cend()) {
      resize_down(place);
    } else {
      vector after(to, cend(), memory);
      resize_down(place);
      append(after.cbegin(), after.cend());
    }
    return first + place;
  }
  __host__ void swap(vector& other) noexcept {
    std::swap(memory, other.memory);
    std::swap(first, other.first);
    std::swap(count, other.count);
    std::swap(room, other.room);
  }
};

template <typename Container, typename T>
__host__ void copy_out(const Container& from, host_buffer<T>& to) {
  using iterator = typename Container::const_iterator;
  if constexpr (std::is_same_v<iterator_system_t<iterator>, host_system_tag>) {
    for (const T& one : from) to.add(one);
  } else {
    if (!from.size()) return;
    copy_bytes({}, to.begin(), address_of(from.begin()), from.size() * sizeof(T));
    to.filled();
  }
}
/// Whether two containers, of whatever systems, have equal elements; they are compared on the host.
template <typename A, typename B>
__host__ bool same_elements(const A& a, const B& b) {
  if (a.size() != b.size()) return false;
  using T = typename A::value_type;
  using U = typename B::value_type;
  host_buffer<T> mine(a.size());
  host_buffer<U> other(b.size());
  copy_out(a, mine);
  copy_out(b, other);
  const T* left = mine.begin();
  const U* right = other.begin();
  for (size_t i = 0; i < a.size(); ++i)
    if (!(left[i] == right[i])) return false;
  return true;
}
template <typename T, typename A, typename U, typename B>
__host__ bool operator==(const vector<T, A>& a, const vector<U, B>& b) {
  return same_elements(a, b);
}
template <typename T, typename A, typename U, typename B>
__host__ bool operator!=(const vector<T, A>& a, const vector<U, B>& b) {
  return !same_elements(a, b);
}
template <typename T, typename A, typename U, typename B>
__host__ bool operator==(const vector<T, A>& a, const std::vector<U, B>& b) {
  return same_elements(a, b);
}
template <typename T, typename A, typename U, typename B>
__host__ bool operator!=(const vector<T, A>& a, const std::vector<U, B>& b) {
  return !same_elements(a, b);
}
template <typename T, typename A, typename U, typename B>
__host__ bool operator==(const std::vector<U, B>& b, const vector<T, A>& a) {
  return same_elements(b, a);
}
template <typename T, typename A, typename U, typename B>
__host__ bool operator!=(const std::vector<U, B>& b, const vector<T, A>& a) {
  return !same_elements(b, a);
}
}  // namespace thrust::detail

// A vector of Thrust is a class of its own, so that its name stands in messages; all it does is done above.
#define THRUST_DETAIL_VECTOR(name, Default)                                                        \
  template <typename T, typename Allocator = Default>                                              \
  class name : public thrust::detail::vector<T, Allocator> {                                       \
    using base = thrust::detail::vector<T, Allocator>;                                             \
                                                                                                   \
   public:                                                                                         \
    using base::base;                                                                              \
    using base::operator=;                                                                         \
    __host__ name() = default;                                                                     \
    name(const name&) = default;                                                                   \
    name(name&&) = default;                                                                        \
    name& operator=(const name&) = default;                                                        \
    name& operator=(name&&) = default;                                                             \
    template <typename U, typename Other>                                                          \
    __host__ name(const thrust::detail::vector<U, Other>& other) : base(other) {}                  \
    template <typename U, typename Other>                                                          \
    __host__ name(const std::vector<U, Other>& other) : base(other) {}                             \
  };                                                                                               \
  template <typename T, typename Allocator>                                                        \
  __host__ void swap(name<T, Allocator>& a, name<T, Allocator>& b) noexcept {                      \
    a.swap(b);                                                                                     \
  }
