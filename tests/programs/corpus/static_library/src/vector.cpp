#include "vecmath.hpp"
#include "check.h"
#include <utility>

namespace vecmath {

vector::vector(std::size_t n) : size_(n) { VM_CHECK(hipMalloc(reinterpret_cast<void**>(&data_), n * sizeof(double))); }
vector::vector(const double* host, std::size_t n) : vector(n) { VM_CHECK(hipMemcpy(data_, host, n * sizeof(double), hipMemcpyHostToDevice)); }
vector::vector(const vector& other) : vector(other.size_) { VM_CHECK(hipMemcpy(data_, other.data_, size_ * sizeof(double), hipMemcpyDeviceToDevice)); }
vector::vector(vector&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
vector& vector::operator=(vector other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}
vector::~vector() {
  if (data_) (void)hipFree(data_);
}
void vector::download(double* host) const { VM_CHECK(hipMemcpy(host, data_, size_ * sizeof(double), hipMemcpyDeviceToHost)); }

}  // namespace vecmath
