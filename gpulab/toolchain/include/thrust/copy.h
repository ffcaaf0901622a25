// thrust::copy, within a system and between host and device; copy_n, copy_if.
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <vector>

#include "advance.h"
#include "for_each.h"
#include "system/hip/detail/primitives.h"

#pragma clang force_cuda_host_device begin
namespace thrust::detail {
template <typename Value, typename Iterator,
          bool = std::is_object_v<Value> && !std::is_array_v<Value> && !std::is_same_v<Value, bool>>
inline constexpr bool is_iterator_of_vector = false;
template <typename Value, typename Iterator>
inline constexpr bool is_iterator_of_vector<Value, Iterator, true> =
    std::is_same_v<Iterator, typename std::vector<Value>::iterator> ||
    std::is_same_v<Iterator, typename std::vector<Value>::const_iterator>;

/// Whether the elements lie one after another in memory.
template <typename Iterator>
inline constexpr bool is_contiguous =
    std::is_pointer_v<unwrapped_t<Iterator>> || is_iterator_of_vector<iterator_value_t<Iterator>, Iterator>;
template <typename Iterator>
auto address_of(const Iterator& it) {
  if constexpr (std::is_pointer_v<unwrapped_t<Iterator>>)
    return unwrap(it);
  else
    return std::addressof(*it);
}
template <typename From, typename To>
inline constexpr bool copies_as_bytes =
    is_contiguous<From> && is_contiguous<To> && std::is_same_v<iterator_value_t<From>, iterator_value_t<To>>;
}  // namespace thrust::detail
#pragma clang force_cuda_host_device end

namespace thrust::detail {
/// Host memory for elements on their way.
template <typename T>
class host_buffer {
  T* memory;
  size_t count = 0;

 public:
  __host__ explicit host_buffer(size_t most) : memory(std::allocator<T>().allocate(most)), room(most) {}
  host_buffer(const host_buffer&) = delete;
  host_buffer& operator=(const host_buffer&) = delete;
  __host__ ~host_buffer() {
    for (size_t i = 0; i < count; ++i) memory[i].~T();
    std::allocator<T>().deallocate(memory, room);
  }
  template <typename Value>
  __host__ void add(Value&& value) {
    ::new (static_cast<void*>(memory + count)) T(static_cast<Value&&>(value));
    ++count;
  }
  /// After bytes of the device have been copied in.
  __host__ void filled() { count = room; }
  __host__ T* begin() { return memory; }
  __host__ T* end() { return memory + room; }

 private:
  size_t room;
};

__host__ inline void copy_bytes(const parallel::stream_policy& policy, void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  check(hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, policy.stream), "thrust::copy");
  parallel::finish(policy);
}

template <typename From, typename To>
__host__ To copy_on_device(const parallel::stream_policy& policy, From first, size_t count, To result) {
  if constexpr (copies_as_bytes<From, To>) {
    if constexpr (std::is_trivially_copyable_v<iterator_value_t<From>>) {
      if (count) copy_bytes(policy, address_of(result), address_of(first), count * sizeof(iterator_value_t<From>));
      return result + count;
    }
  }
  parallel::launched_from_the_host_only(
      policy, count,
      [from = unwrap(first), to = unwrap(result)] __host__ __device__(size_t i) mutable { to[i] = from[i]; });
  parallel::finish(policy);
  return result + count;
}

template <typename From, typename To>
__host__ To copy_to_device(const parallel::stream_policy& policy, From first, size_t count, To result) {
  using value = iterator_value_t<From>;
  if (count == 0) return result;
  parallel::stream_policy waiting = policy;
  waiting.waits = true;
  if constexpr (copies_as_bytes<From, To>) {
    copy_bytes(policy, address_of(result), address_of(first), count * sizeof(value));
  } else if constexpr (is_contiguous<To>) {
    host_buffer<iterator_value_t<To>> kept(count);
    for (size_t i = 0; i < count; ++i, ++first) kept.add(static_cast<iterator_value_t<To>>(*first));
    copy_bytes(waiting, address_of(result), kept.begin(), count * sizeof(iterator_value_t<To>));
  } else {
    host_buffer<value> kept(count);
    for (size_t i = 0; i < count; ++i, ++first) kept.add(*first);
    parallel::temporary<value> there(policy, count);
    copy_bytes(waiting, there.get(), kept.begin(), count * sizeof(value));
    copy_on_device(waiting, there.get(), count, result);
  }
  return result + count;
}

template <typename From, typename To>
__host__ To copy_to_host(const parallel::stream_policy& policy, From first, size_t count, To result) {
  using value = iterator_value_t<From>;
  if (count == 0) return result;
  parallel::stream_policy waiting = policy;
  waiting.waits = true;
  if constexpr (copies_as_bytes<From, To>) {
    copy_bytes(policy, address_of(result), address_of(first), count * sizeof(value));
    return result + count;
  } else {
    host_buffer<value> kept(count);
    if constexpr (is_contiguous<From>) {
      copy_bytes(waiting, kept.begin(), address_of(first), count * sizeof(value));
    } else {
      parallel::temporary<value> there(policy, count);
      copy_on_device(waiting, first, count, there.get());
      copy_bytes(waiting, kept.begin(), there.get(), count * sizeof(value));
    }
    kept.filled();
    for (value& one : kept) {
      *result = one;
      ++result;
    }
    return result;
  }
}
}  // namespace thrust::detail

#pragma clang force_cuda_host_device begin
namespace thrust {
template <typename Policy, typename From, typename To>
To copy(const execution_policy<Policy>& policy, From first, From last, To result) {
  using from = iterator_system_t<From>;
  using to = iterator_system_t<To>;
  if constexpr (!detail::on_device<Policy>) {
    for (; first != last; ++first, ++result) *result = *first;
    return result;
  } else {
    auto settings = detail::parallel::host_settings(policy.derived());
    // A plain pointer may be either's: the runtime knows.
    if constexpr (std::is_same_v<from, host_system_tag> && !std::is_pointer_v<From>) {
      return detail::copy_to_device(settings, first, static_cast<size_t>(thrust::distance(first, last)), result);
    } else if constexpr (std::is_same_v<to, host_system_tag> && !std::is_pointer_v<To>) {
      return detail::copy_to_host(settings, first, detail::length(first, last), result);
    } else {
      return detail::copy_on_device(settings, first, detail::length(first, last), result);
    }
  }
}
template <typename From, typename To>
To copy(From first, From last, To result) {
  using from = iterator_system_t<From>;
  if constexpr (!std::is_same_v<detail::common_system<From, To>, detail::mixed_systems>) {
    return thrust::copy(detail::select<From, To>(), first, last, result);
  } else if constexpr (std::is_same_v<from, host_system_tag>) {
    using category = typename std::iterator_traits<From>::iterator_category;
    if constexpr (!std::is_base_of_v<std::forward_iterator_tag, category>) {  // a stream: once, and of unknown length
      std::vector<iterator_value_t<From>> kept(first, last);
      return detail::copy_to_device({}, kept.begin(), kept.size(), result);
    } else {
      return detail::copy_to_device({}, first, static_cast<size_t>(thrust::distance(first, last)), result);
    }
  } else {
    return detail::copy_to_host({}, first, detail::length(first, last), result);
  }
}
template <typename Policy, typename From, typename Size, typename To>
To copy_n(const execution_policy<Policy>& policy, From first, Size n, To result) {
  if constexpr (detail::on_device<Policy>) {
    return thrust::copy(policy, first, thrust::next(first, n), result);
  } else {
    for (Size i = 0; i < n; ++i, ++first, ++result) *result = *first;
    return result;
  }
}
template <typename From, typename Size, typename To>
To copy_n(From first, Size n, To result) {
  if constexpr (std::is_same_v<detail::common_system<From, To>, host_system_tag>)
    return thrust::copy_n(seq, first, n, result);
  else
    return thrust::copy(first, thrust::next(first, n), result);
}

template <typename Policy, typename From, typename Stencil, typename To, typename Predicate>
To copy_if(const execution_policy<Policy>& policy, From first, From last, Stencil stencil, To result,
           Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    auto settings = detail::parallel::host_settings(policy.derived());
    size_t kept = detail::parallel::compact(
        settings, detail::length(first, last),
        [stencil = detail::unwrap(stencil), predicate](size_t i) mutable -> bool { return predicate(stencil[i]); },
        [from = detail::unwrap(first), to = detail::unwrap(result)](size_t i, size_t place) mutable {
          to[place] = from[i];
        },
        detail::parallel::leave_out());
    return result + kept;
  } else {
    for (; first != last; ++first, ++stencil) {
      if (predicate(*stencil)) {
        *result = *first;
        ++result;
      }
    }
    return result;
  }
}
template <typename Policy, typename From, typename To, typename Predicate>
To copy_if(const execution_policy<Policy>& policy, From first, From last, To result, Predicate predicate) {
  if constexpr (detail::on_device<Policy>) {
    return thrust::copy_if(policy, first, last, first, result, predicate);
  } else {
    for (; first != last; ++first) {
      if (predicate(*first)) {
        *result = *first;
        ++result;
      }
    }
    return result;
  }
}
template <typename From, typename To, typename Predicate>
To copy_if(From first, From last, To result, Predicate predicate) {
  return thrust::copy_if(detail::select<From, To>(), first, last, result, predicate);
}
template <typename From, typename Stencil, typename To, typename Predicate>
To copy_if(From first, From last, Stencil stencil, To result, Predicate predicate) {
  return thrust::copy_if(detail::select<From, Stencil, To>(), first, last, stencil, result, predicate);
}
}  // namespace thrust
#pragma clang force_cuda_host_device end
