// assert(condition): a thread whose condition is false prints what failed and where, and stops the kernel.
//
// Part of hip/hip_runtime.h. As in C, this header may be included more than once: each time NDEBUG decides anew, so
// `#define NDEBUG` before the #include, or the option -DNDEBUG, turns asserts into nothing.
#include "gpulab/assertion.h"

#undef assert
#ifdef NDEBUG
#define assert(...) (static_cast<void>(0))
#else
// A list of arguments, so that the comma of a template needs no parentheses.
#define assert(...)                                                                       \
  (__builtin_expect(static_cast<bool>(__VA_ARGS__), true)                                 \
       ? static_cast<void>(0)                                                             \
       : gpulab::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif
