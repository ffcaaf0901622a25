// Systems (host, device), execution policies, and which system an iterator belongs to.
#pragma once
#include "config.h"

#pragma clang force_cuda_host_device begin
namespace thrust {

/// What every policy derives from; `Derived` is the policy itself.
template <typename Derived>
struct execution_policy {
  const Derived& derived() const { return static_cast<const Derived&>(*this); }
};
template <typename Derived>
struct host_execution_policy : execution_policy<Derived> {};
template <typename Derived>
struct device_execution_policy : execution_policy<Derived> {};

namespace system::cpp {
template <typename Derived>
struct execution_policy : host_execution_policy<Derived> {};
struct tag : execution_policy<tag> {};
struct par_t : execution_policy<par_t> {
  constexpr par_t() = default;
};
inline constexpr par_t par{};
}  // namespace system::cpp

namespace system::hip {
template <typename Derived>
struct execution_policy : device_execution_policy<Derived> {};
struct tag : execution_policy<tag> {};

namespace detail {
// How temporary memory is had from an allocator of the program, whatever its type.
template <typename Allocator>
void* allocate_by(void* allocator, size_t bytes) {
  return reinterpret_cast<void*>(&*static_cast<Allocator*>(allocator)->allocate(bytes));
}
template <typename Allocator>
void deallocate_by(void* allocator, void* memory, size_t bytes) {
  using pointer = typename std::allocator_traits<Allocator>::pointer;
  static_cast<Allocator*>(allocator)->deallocate(pointer(static_cast<char*>(memory)), bytes);
}

/// On which stream the work is done, whether the call waits for it, and where its temporary memory comes from.
struct stream_policy : execution_policy<stream_policy> {
  hipStream_t stream = nullptr;
  bool waits = true;
  void* allocator = nullptr;
  void* (*allocate)(void*, size_t) = nullptr;
  void (*deallocate)(void*, void*, size_t) = nullptr;

  constexpr stream_policy() = default;
  constexpr explicit stream_policy(bool waits_) : waits(waits_) {}
  stream_policy on(hipStream_t other) const {
    stream_policy changed = *this;
    changed.stream = other;
    return changed;
  }
  template <typename Allocator>
  stream_policy operator()(Allocator& given) const {
    static_assert(sizeof(typename std::allocator_traits<Allocator>::value_type) == 1,
                  "an allocator of temporary memory allocates bytes: its value_type has to be char");
    stream_policy changed = *this;
    changed.allocator = &given;
    changed.allocate = allocate_by<Allocator>;
    changed.deallocate = deallocate_by<Allocator>;
    return changed;
  }
  template <typename Allocator>
  stream_policy operator()(Allocator* given) const {
    return (*this)(*given);
  }
};
}  // namespace detail
inline constexpr detail::stream_policy par{};
inline constexpr detail::stream_policy par_nosync{false};
}  // namespace system::hip

namespace cpp = system::cpp;
namespace hip = system::hip;
namespace hip_rocprim = system::hip;

namespace detail {
struct seq_t : host_execution_policy<seq_t> {
  constexpr seq_t() = default;
};
template <typename T>
inline constexpr bool is_policy = std::is_base_of_v<execution_policy<T>, T>;
template <typename Policy>
inline constexpr bool on_device = std::is_base_of_v<device_execution_policy<Policy>, Policy>;
}  // namespace detail

/// One thread after another's work, where the call stands: on the host or in a kernel.
inline constexpr detail::seq_t seq{};
inline constexpr system::cpp::par_t host{};
inline constexpr system::hip::detail::stream_policy device{};

using host_system_tag = system::cpp::tag;
using device_system_tag = system::hip::tag;
/// Of an iterator that can be read everywhere (counting, constant); alone, such iterators mean the device.
struct any_system_tag : device_execution_policy<any_system_tag> {};

namespace detail {
template <typename Iterator, typename = void>
struct system_of {
  using type = host_system_tag;
};
template <typename Iterator>
struct system_of<Iterator, std::void_t<typename Iterator::thrust_system>> {
  using type = typename Iterator::thrust_system;
};

struct mixed_systems {};
template <typename First, typename Second>
using joined = std::conditional_t<
    std::is_same_v<First, any_system_tag>, Second,
    std::conditional_t<std::is_same_v<Second, any_system_tag> || std::is_same_v<First, Second>, First, mixed_systems>>;
template <typename First, typename... Rest>
struct join_all {
  using type = First;
};
template <typename First, typename Second, typename... Rest>
struct join_all<First, Second, Rest...> : join_all<joined<First, Second>, Rest...> {};
template <typename... Iterators>
using common_system = typename join_all<any_system_tag, typename system_of<Iterators>::type...>::type;

/// The policy of an algorithm that was given none: that of the system of its iterators.
template <typename... Iterators>
constexpr auto select() {
  using found = common_system<Iterators...>;
  static_assert(!std::is_same_v<found, mixed_systems>,
                "an algorithm of Thrust works in one system: some of these iterators are the host's (a raw pointer "
                "is), others the device's. Copy with thrust::copy, wrap a device pointer by "
                "thrust::device_pointer_cast, or name the policy: thrust::device.");
  if constexpr (std::is_same_v<found, host_system_tag>)
    return host_system_tag{};
  else
    return device_system_tag{};
}
}  // namespace detail

template <typename Iterator>
struct iterator_system {
  using type = typename detail::system_of<Iterator>::type;
};
template <typename Iterator>
using iterator_system_t = typename iterator_system<Iterator>::type;
}  // namespace thrust
#pragma clang force_cuda_host_device end
