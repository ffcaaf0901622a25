// Space for printf. Clang turns each printf of a kernel into a call of __printf_alloc(bytes) and stores behind it.
#pragma once

typedef __attribute__((address_space(1))) char GlobalChar;
typedef __attribute__((address_space(1))) u32 GlobalWord;

// Reserves `bytes` in the launch's printf buffer: u32 bytes used by frames, u32 size of the whole buffer, frames.
// Null if the rest is too small. The buffer's address is a hidden argument at byte 72 (code object version 5).
extern "C" __attribute__((nothrow)) GlobalChar* __printf_alloc(u32 bytes) {
  auto arguments = (const __attribute__((address_space(4))) u64*)__builtin_amdgcn_implicitarg_ptr();
  GlobalWord* buffer = (GlobalWord*)arguments[9];
  u32 room = buffer[1] - 8;
  u32 used = __scoped_atomic_load_n(&buffer[0], __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  do {
    if (used > room || room - used < bytes) return nullptr;
  } while (!__scoped_atomic_compare_exchange_n(&buffer[0], &used, used + bytes, false, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE));
  return (GlobalChar*)buffer + 8 + used;
}
