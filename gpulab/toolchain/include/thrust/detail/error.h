// What a failing HIP call throws.
#pragma once
#include "config.h"  // first: it says what is wrong in a cell of kernels
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace thrust {
using std::errc;
using std::error_category;
using std::error_code;
using std::error_condition;
using std::generic_category;
using std::make_error_code;
using std::make_error_condition;
using std::system_category;

namespace system {
using std::error_category;
using std::error_code;
using std::error_condition;
using std::generic_category;
using std::system_category;

/// An error of the system; HIP's have the category thrust::hip_category() and hipError_t as their code.
class system_error : public std::system_error {
 public:
  using std::system_error::system_error;
};
namespace detail {
/// Memory that is not there, with HIP's own word about it.
class bad_alloc : public std::bad_alloc {
  std::string text;

 public:
  explicit bad_alloc(const std::string& given) : text("std::bad_alloc: " + given) {}
  const char* what() const noexcept override { return text.c_str(); }
};
}  // namespace detail

namespace hip {
namespace errc {
enum errc_t : int { success = hipSuccess };
}
namespace detail {
class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "hip"; }
  std::string message(int code) const override {
    hipError_t error = static_cast<hipError_t>(code);
    return std::string(hipGetErrorName(error)) + ": " + hipGetErrorString(error);
  }
};
}  // namespace detail
}  // namespace hip
inline const std::error_category& hip_category() {
  static const hip::detail::category only;
  return only;
}
}  // namespace system
using system::hip_category;
using system::system_error;

namespace detail {
/// Throws if a call failed; the error that HIP keeps is taken away with it.
inline __host__ void check(hipError_t error, const char* what) {
  if (error == hipSuccess) return;
  (void)hipGetLastError();
  if (error == hipErrorOutOfMemory) throw system::detail::bad_alloc(hip_category().message(error));
  throw system_error(static_cast<int>(error), hip_category(), what);
}
}  // namespace detail
}  // namespace thrust
