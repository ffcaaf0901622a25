// malloc and free, new and delete on the device.
//
// The heap is memory of the module that uses it, given out in blocks of powers of two: an array of 8 MiB, or what the host
// put into the module's variable __gpulab_heap (hipDeviceSetLimit, hipLimitMallocHeapSize). If a limit is set after the first
// malloc, the memory in use so far stays as an older part. Its state and its contents last as long as the module is
// loaded, so one kernel may free what another allocated. Each size has a list of freed blocks, a stack whose head is
// exchanged by compare and swap, with a count beside the place so that a head that came back is not mistaken for one that
// never left; a place is the distance from the state in units of 32 bytes, which is never 0. malloc gives null when nothing is
// left; free of an address that malloc did not give, or gave up already, traps.
//
// (HIP keeps its own heap in the runtime and shares it between modules; memory goes from malloc to free there, too. That heap
// grows, whatever the limit says.)
#pragma once

namespace gpulab {
struct heap_block {
  uint32_t next;  // while it is free: the place of the next free block, or 0
  uint32_t size;  // as a power of two
  uint32_t in_use;
  uint32_t padding;
};
struct heap_part {
  unsigned char* memory;  // null: heap_memory
  uint32_t bytes;         // of it; of the present part 0 stands for all of heap_memory
  uint32_t used;
};
struct heap_state {
  heap_part present;
  uint64_t free[32];
  heap_part older[8];  // bytes 0: there are no more
};
constexpr uint32_t heap_bytes = 8u << 20;
}  // namespace gpulab

// Inline variables: of a module once, whatever it is linked of, and only where they are used.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc++17-extensions"
inline __device__ __align__(32) gpulab::heap_state __gpulab_heap;
namespace gpulab {
inline __device__ __align__(32) unsigned char heap_memory[heap_bytes];
#pragma clang diagnostic pop

__GPULAB_FUNCTION__ unsigned char* heap_begin(const heap_part& part) {
  return part.memory == nullptr ? heap_memory : part.memory;
}
__GPULAB_FUNCTION__ uint32_t heap_end() { return __gpulab_heap.present.bytes == 0 ? heap_bytes : __gpulab_heap.present.bytes; }
__GPULAB_FUNCTION__ heap_block* heap_at(uint32_t place) {
  return reinterpret_cast<heap_block*>(&__gpulab_heap) + 2 * static_cast<int64_t>(static_cast<int32_t>(place));
}
__GPULAB_FUNCTION__ bool heap_has(const heap_part& part, uint32_t end, const unsigned char* address) {
  size_t place = address - heap_begin(part);
  return place < end && place % 32 == 0;
}
__GPULAB_FUNCTION__ void* heap_take(heap_block* block, uint32_t size) {
  block->size = size;
  block->in_use = 1;
  return block + 1;
}
static __device__ __attribute__((noinline, nodebug)) void* heap_allocate(size_t bytes) {
  if (bytes >= 1u << 31) return nullptr;
  uint32_t least = static_cast<uint32_t>(bytes) + sizeof(heap_block);
  uint32_t size = least <= 32 ? 5 : 32 - __builtin_clz(least - 1);
  if (size > 31) return nullptr;
  uint64_t head = __hip_atomic_load(&__gpulab_heap.free[size], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
  while (static_cast<uint32_t>(head) != 0) {
    heap_block* block = heap_at(static_cast<uint32_t>(head));
    uint64_t next = __hip_atomic_load(&block->next, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    if (__hip_atomic_compare_exchange_strong(&__gpulab_heap.free[size], &head, ((head >> 32) + 1) << 32 | next, __ATOMIC_ACQUIRE,
                                             __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
      return heap_take(block, size);
  }
  uint32_t used = __hip_atomic_load(&__gpulab_heap.present.used, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  do {
    if ((1u << size) > heap_end() - used) return nullptr;
  } while (!__hip_atomic_compare_exchange_strong(&__gpulab_heap.present.used, &used, used + (1u << size), __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
  return heap_take(reinterpret_cast<heap_block*>(heap_begin(__gpulab_heap.present) + used), size);
}
static __device__ __attribute__((noinline, nodebug)) void heap_release(void* address) {
  if (address == nullptr) return;
  heap_block* block = static_cast<heap_block*>(address) - 1;
  unsigned char* at = reinterpret_cast<unsigned char*>(block);
  bool inside = heap_has(__gpulab_heap.present, heap_end(), at);
  for (const heap_part& part : __gpulab_heap.older) {
    if (inside || part.bytes == 0) break;
    inside = heap_has(part, part.bytes, at);
  }
  if (!inside) __builtin_trap();
  uint64_t place = static_cast<uint32_t>((at - reinterpret_cast<unsigned char*>(&__gpulab_heap)) / 32);
  if (!__hip_atomic_exchange(&block->in_use, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) __builtin_trap();
  uint64_t* list = &__gpulab_heap.free[block->size];
  uint64_t head = __hip_atomic_load(list, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  do {
    __hip_atomic_store(&block->next, static_cast<uint32_t>(head), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  } while (!__hip_atomic_compare_exchange_strong(list, &head, ((head >> 32) + 1) << 32 | place, __ATOMIC_RELEASE,
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
