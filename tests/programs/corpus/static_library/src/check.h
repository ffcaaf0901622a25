#pragma once
#include <hip/hip_runtime.h>
#include <string>
#include "vecmath.hpp"

namespace vecmath::detail {
inline void check(hipError_t e, const char* call, const char* file, int line) {
  if (e != hipSuccess) throw error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + hipGetErrorString(e));
}
}  // namespace vecmath::detail
#define VM_CHECK(call) ::vecmath::detail::check((call), #call, __FILE__, __LINE__)
