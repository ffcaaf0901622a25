#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>

namespace vecmath {

class error : public std::runtime_error {
 public:
  explicit error(const std::string& what) : std::runtime_error(what) {}
};

/// A vector in device memory; its type is hidden from programs that include this header (no HIP needed there).
class vector {
 public:
  explicit vector(std::size_t n);
  vector(const double* host, std::size_t n);
  vector(const vector& other);
  vector(vector&& other) noexcept;
  vector& operator=(vector other) noexcept;
  ~vector();
  std::size_t size() const { return size_; }
  void download(double* host) const;
  double* data() const { return data_; }

 private:
  double* data_ = nullptr;
  std::size_t size_ = 0;
};

vector operator+(const vector& a, const vector& b);
vector operator*(double a, const vector& b);
double dot(const vector& a, const vector& b);
double norm(const vector& a);

}  // namespace vecmath
