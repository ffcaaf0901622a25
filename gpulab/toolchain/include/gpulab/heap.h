// malloc and free, new and delete on the device.
//
// The heap is memory of the module that uses it, given out in blocks of powers of two: an array of 8 MiB, or what the host
// put into the module's variable __gpulab_heap before the first malloc (hipDeviceSetLimit, hipLimitMallocHeapSize). Its state
// and its contents last as long as the module is loaded, so one kernel may free what another allocated. Each size has a
// list of freed blocks, a stack whose head is exchanged by compare and swap, with a count beside the place so that a head
// that came back is not mistaken for one that never left. malloc gives null when nothing is left; free of an address
// that malloc did not give, or gave up already, traps.
//
// (HIP keeps its own heap in the runtime and shares it between modules; memory goes from malloc to free there, too. That heap
// grows, whatever the limit says.)
#pragma once

namespace gpulab {
struct heap_block {
  uint32_t next;  // while it is free: the place of the next free block, with bit 0 set
  uint32_t size;  // as a power of two
  uint32_t in_use;
  uint32_t padding;
};
struct heap_state {
  unsigned char* memory;  // null: heap_memory
  uint32_t bytes;         // of it; not 0: a limit
  uint32_t used;
  uint64_t free[32];
};
constexpr uint32_t heap_bytes = 8u << 20;
}  // namespace gpulab

// Inline variables: of a module once, whatever it is linked of, and only where they are used.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++17-extensions"
inline __device__ gpulab::heap_state __gpulab_heap;
namespace gpulab {
inline __device__ __align__(16) unsigned char heap_memory[heap_bytes];
#pragma clang diagnostic pop

__GPULAB_FUNCTION__ unsigned char* heap_begin() {
  return __gpulab_heap.memory == nullptr ? heap_memory : __gpulab_heap.memory;
}
__GPULAB_FUNCTION__ uint32_t heap_end() { return __gpulab_heap.bytes == 0 ? heap_bytes : __gpulab_heap.bytes; }
__GPULAB_FUNCTION__ heap_block* heap_at(uint32_t place) {
  return reinterpret_cast<heap_block*>(heap_begin() + (place & ~31u));
}
__GPULAB_FUNCTION__ void* heap_take(heap_block* block, uint32_t size) {
  block->size = size;
  block->in_use = 1;
  return block + 1;
}
static __device__ __attribute__((noinline, nodebug)) void* heap_allocate(size_t bytes) {
  if (bytes > heap_end() || bytes + sizeof(heap_block) > heap_end()) return nullptr;
  uint32_t least = static_cast<uint32_t>(bytes) + sizeof(heap_block);
  uint32_t size = least <= 32 ? 5 : 32 - __builtin_clz(least - 1);
  uint64_t head = __hip_atomic_load(&__gpulab_heap.free[size], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
  while (static_cast<uint32_t>(head) != 0) {
    heap_block* block = heap_at(static_cast<uint32_t>(head));
    uint64_t next = __hip_atomic_load(&block->next, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    if (__hip_atomic_compare_exchange_strong(&__gpulab_heap.free[size], &head, ((head >> 32) + 1) << 32 | next, __ATOMIC_ACQUIRE,
                                             __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
      return heap_take(block, size);
  }
  uint32_t used = __hip_atomic_load(&__gpulab_heap.used, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  do {
    if ((1u << size) > heap_end() - used) return nullptr;
  } while (!__hip_atomic_compare_exchange_strong(&__gpulab_heap.used, &used, used + (1u << size), __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
  return heap_take(heap_at(used), size);
}
static __device__ __attribute__((noinline, nodebug)) void heap_release(void* address) {
  if (address == nullptr) return;
  size_t place = static_cast<unsigned char*>(address) - heap_begin() - sizeof(heap_block);
  if (place >= heap_end() || place % 32 != 0) __builtin_trap();
  heap_block* block = heap_at(static_cast<uint32_t>(place));
  if (!__hip_atomic_exchange(&block->in_use, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) __builtin_trap();
  uint64_t* list = &__gpulab_heap.free[block->size];
  uint64_t head = __hip_atomic_load(list, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  do {
    __hip_atomic_store(&block->next, static_cast<uint32_t>(head), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  } while (!__hip_atomic_compare_exchange_strong(list, &head, ((head >> 32) + 1) << 32 | place | 1, __ATOMIC_RELEASE,
                                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
}
}  // namespace gpulab

__GPULAB_FUNCTION__ void* malloc(size_t bytes) { return gpulab::heap_allocate(bytes); }
__GPULAB_FUNCTION__ void free(void* address) { gpulab::heap_release(address); }

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
#define __GPULAB_NEW__ __device__ inline __attribute__((always_inline, nodebug))
__GPULAB_NEW__ void* operator new(size_t bytes) { return gpulab::heap_allocate(bytes); }
__GPULAB_NEW__ void* operator new[](size_t bytes) { return gpulab::heap_allocate(bytes); }
__GPULAB_NEW__ void* operator new(size_t, void* address) noexcept { return address; }
__GPULAB_NEW__ void* operator new[](size_t, void* address) noexcept { return address; }
__GPULAB_NEW__ void operator delete(void* address) noexcept { gpulab::heap_release(address); }
__GPULAB_NEW__ void operator delete[](void* address) noexcept { gpulab::heap_release(address); }
__GPULAB_NEW__ void operator delete(void* address, size_t) noexcept { gpulab::heap_release(address); }
__GPULAB_NEW__ void operator delete[](void* address, size_t) noexcept { gpulab::heap_release(address); }
__GPULAB_NEW__ void operator delete(void*, void*) noexcept {}
__GPULAB_NEW__ void operator delete[](void*, void*) noexcept {}
#undef __GPULAB_NEW__
#pragma clang diagnostic pop
