// Memory of the device: allocation, raw pointers, allocators.
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <memory>

#include "detail/pointer.h"
#include "system/hip/detail/launch.h"

namespace thrust {
inline __host__ device_ptr<void> device_malloc(size_t bytes) {
  void* memory = nullptr;
  if (bytes) detail::check(hipMalloc(&memory, bytes), "device_malloc");
  return device_ptr<void>(memory);
}
template <typename T>
__host__ device_ptr<T> device_malloc(size_t count) {
  return device_ptr<T>(static_cast<T*>(device_malloc(count * sizeof(T)).get()));
}
template <typename T>
__host__ void device_free(device_ptr<T> memory) {
  if (memory) detail::check(hipFree(const_cast<std::remove_cv_t<T>*>(memory.get())), "device_free");
}

// As malloc and free, in the system of a policy or tag.
template <typename Policy>
__host__ auto malloc(const execution_policy<Policy>&, size_t bytes) {
  if constexpr (detail::on_device<Policy>)
    return device_malloc(bytes);
  else
    return pointer<void, host_system_tag>(std::malloc(bytes));
}
template <typename T, typename Policy>
__host__ auto malloc(const execution_policy<Policy>&, size_t count) {
  if constexpr (detail::on_device<Policy>)
    return device_malloc<T>(count);
  else
    return pointer<T, host_system_tag>(static_cast<T*>(std::malloc(count * sizeof(T))));
}
template <typename Policy, typename Pointer>
__host__ void free(const execution_policy<Policy>&, Pointer memory) {
  if constexpr (detail::on_device<Policy>)
    detail::check(hipFree(raw_pointer_cast(memory)), "thrust::free");
  else
    std::free(raw_pointer_cast(memory));
}
template <typename T, typename Policy>
__host__ auto get_temporary_buffer(const execution_policy<Policy>& policy, ptrdiff_t count) {
  auto memory = thrust::malloc<T>(policy, static_cast<size_t>(count));
  return pair<decltype(memory), ptrdiff_t>(memory, count);
}
template <typename Policy, typename Pointer>
__host__ void return_temporary_buffer(const execution_policy<Policy>& policy, Pointer memory, ptrdiff_t = 0) {
  thrust::free(policy, memory);
}

namespace detail {
// What the allocators differ in: how memory is had, and what its pointers are.
struct device_memory {
  template <typename T>
  using pointer = device_ptr<T>;
  static __host__ hipError_t get(void** memory, size_t bytes) { return hipMalloc(memory, bytes); }
  static __host__ hipError_t give_back(void* memory) { return hipFree(memory); }
};
struct managed_memory {
  template <typename T>
  using pointer = universal_ptr<T>;
  static __host__ hipError_t get(void** memory, size_t bytes) { return hipMallocManaged(memory, bytes); }
  static __host__ hipError_t give_back(void* memory) { return hipFree(memory); }
};
struct pinned_memory {
  template <typename T>
  using pointer = T*;
  static __host__ hipError_t get(void** memory, size_t bytes) { return hipHostMalloc(memory, bytes, 0); }
  static __host__ hipError_t give_back(void* memory) { return hipHostFree(memory); }
};
struct universal_pinned_memory : pinned_memory {
  template <typename T>
  using pointer = universal_ptr<T>;
};

template <typename T, typename Memory>
class allocator {
 public:
  using value_type = T;
  using pointer = typename Memory::template pointer<T>;
  using const_pointer = typename Memory::template pointer<const T>;
  using reference = typename std::iterator_traits<pointer>::reference;
  using const_reference = typename std::iterator_traits<const_pointer>::reference;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  template <typename U>
  struct rebind {
    using other = allocator<U, Memory>;
  };
  __host__ __device__ allocator() {}
  __host__ __device__ allocator(const allocator&) {}
  template <typename U>
  __host__ __device__ allocator(const allocator<U, Memory>&) {}
  allocator& operator=(const allocator&) = default;
  __host__ pointer allocate(size_t count) {
    void* memory = nullptr;
    if (count > max_size()) throw system::detail::bad_alloc("more elements than memory has addresses");
    if (count) check(Memory::get(&memory, count * sizeof(T)), "the memory of a vector");
    return pointer(static_cast<T*>(memory));
  }
  __host__ void deallocate(pointer memory, size_t) {
    T* raw = thrust::raw_pointer_cast(memory);
    if (raw) (void)Memory::give_back(const_cast<std::remove_cv_t<T>*>(raw));
  }
  static constexpr size_t max_size() { return static_cast<size_t>(PTRDIFF_MAX) / sizeof(T); }
  friend __host__ __device__ bool operator==(const allocator&, const allocator&) { return true; }
  friend __host__ __device__ bool operator!=(const allocator&, const allocator&) { return false; }
};
}  // namespace detail

template <typename T>
using device_allocator = detail::allocator<T, detail::device_memory>;
template <typename T>
using device_malloc_allocator = device_allocator<T>;
template <typename T>
using device_new_allocator = device_allocator<T>;
template <typename T>
using universal_allocator = detail::allocator<T, detail::managed_memory>;

namespace system::hip {
template <typename T>
using allocator = device_allocator<T>;
template <typename T>
using universal_allocator = thrust::universal_allocator<T>;
template <typename T>
using universal_host_pinned_allocator = thrust::detail::allocator<T, thrust::detail::universal_pinned_memory>;
template <typename T>
using pointer = device_ptr<T>;
template <typename T>
using universal_pointer = universal_ptr<T>;
namespace experimental {
template <typename T>
using pinned_allocator = thrust::detail::allocator<T, thrust::detail::pinned_memory>;
}
}  // namespace system::hip

/// Elements made on the device, at memory that is there or is allocated: T(), or copies of an exemplar.
template <typename T>
__host__ device_ptr<T> device_new(device_ptr<void> memory, const T& exemplar, size_t count = 1) {
  T* raw = static_cast<T*>(memory.get());
  auto make = [raw, exemplar] __host__ __device__(size_t i) { ::new (static_cast<void*>(raw + i)) T(exemplar); };
  detail::parallel::launched_from_the_host_only({}, count, make);
  detail::parallel::finish({});
  return device_ptr<T>(raw);
}
template <typename T>
__host__ device_ptr<T> device_new(device_ptr<void> memory, size_t count = 1) {
  T* raw = static_cast<T*>(memory.get());
  auto make = [raw] __host__ __device__(size_t i) { ::new (static_cast<void*>(raw + i)) T(); };
  detail::parallel::launched_from_the_host_only({}, count, make);
  detail::parallel::finish({});
  return device_ptr<T>(raw);
}
template <typename T>
__host__ device_ptr<T> device_new(size_t count = 1) {
  return device_new<T>(device_malloc(count * sizeof(T)), count);
}
template <typename T>
__host__ void device_delete(device_ptr<T> memory, size_t count = 0) {
  T* raw = memory.get();
  if constexpr (!std::is_trivially_destructible_v<T>) {
    auto end = [raw] __host__ __device__(size_t i) { raw[i].~T(); };
    detail::parallel::launched_from_the_host_only({}, count, end);
    detail::parallel::finish({});
  }
  (void)count;
  device_free(memory);
}
}  // namespace thrust
