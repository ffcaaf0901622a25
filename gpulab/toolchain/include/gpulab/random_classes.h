// The C++ classes over the calls of random_host.h: engines, and distributions that fill an array of the device.
// rocrand.hpp and hiprand.hpp give them their names: R is a structure with a library's types and calls.
#pragma once
#include <exception>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include "random_host.h"
#ifdef __GPULAB_PROGRAM__
#include "names.h"

namespace __gpulab_random {
template <class R>
class failure : public std::exception {
  typename R::status code_;
  std::string text_;

 public:
  using error_type = typename R::status;
  explicit failure(error_type code) noexcept : code_(code), text_(R::name + std::to_string(static_cast<int>(code))) {}
  error_type error_code() const noexcept { return code_; }
  std::string error_string() const noexcept { return text_; }
  const char* what() const noexcept override { return text_.c_str(); }
  friend bool operator==(const failure& a, const failure& b) { return a.code_ == b.code_; }
  friend bool operator!=(const failure& a, const failure& b) { return a.code_ != b.code_; }
};
template <class R>
void check(typename R::status code) {
  if (static_cast<int>(code) != 0) throw failure<R>(code);
}

template <class R, typename R::type kind, unsigned long long first_seed>
class engine {
  typename R::generator made_;

 public:
  using result_type = unsigned int;
  using seed_type = unsigned long long;
  using offset_type = unsigned long long;
  static constexpr seed_type default_seed = first_seed;
  explicit engine(seed_type seed_value = first_seed, offset_type offset_value = 0) {
    check<R>(R::create(&made_, kind));
    seed(seed_value);
    offset(offset_value);
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  ~engine() { (void)R::destroy(made_); }
  void stream(hipStream_t value) { check<R>(R::set_stream(made_, value)); }
  void seed(seed_type value) { check<R>(R::set_seed(made_, value)); }
  void offset(offset_type value) { check<R>(R::set_offset(made_, value)); }
  void operator()(result_type* output, size_t size) { check<R>(R::integers(made_, output, size)); }
  result_type min() const { return 0; }
  result_type max() const { return std::numeric_limits<result_type>::max(); }
  static constexpr typename R::type type() { return kind; }
  typename R::generator __gpulab_generator() const { return made_; }
};

template <class R, class T>
class uniform_integers {
  static_assert(std::is_same<T, unsigned int>::value || std::is_same<T, unsigned char>::value ||
                    std::is_same<T, unsigned short>::value,
                "uniform_int_distribution gives unsigned int, unsigned short or unsigned char");

 public:
  using result_type = T;
  void reset() {}
  T min() const { return 0; }
  T max() const { return std::numeric_limits<T>::max(); }
  template <class Engine>
  void operator()(Engine& engine, T* output, size_t size) {
    check<R>(R::integers(engine.__gpulab_generator(), output, size));
  }
};
template <class R, class T>
class uniform_reals {
  static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value,
                "uniform_real_distribution gives float or double");

 public:
  using result_type = T;
  void reset() {}
  T min() const { return std::is_same<T, float>::value ? T(2.3283064e-10f) : T(1.1102230246251565e-16); }
  T max() const { return T(1); }
  template <class Engine>
  void operator()(Engine& engine, T* output, size_t size) {
    check<R>(R::uniform(engine.__gpulab_generator(), output, size));
  }
};
// The normal distribution, and that of e to the power of its numbers.
template <class R, class T, bool logarithmic>
class normal_reals {
  static_assert(std::is_same<T, float>::value || std::is_same<T, double>::value,
                "normal distributions give float or double");
  T mean_, deviation_;

 public:
  using result_type = T;
  explicit normal_reals(T mean = 0, T deviation = 1) : mean_(mean), deviation_(deviation) {}
  void reset() {}
  T mean() const { return mean_; }
  T stddev() const { return deviation_; }
  T m() const { return mean_; }
  T s() const { return deviation_; }
  T min() const { return logarithmic ? T(0) : std::numeric_limits<T>::lowest(); }
  T max() const { return std::numeric_limits<T>::max(); }
  template <class Engine>
  void operator()(Engine& engine, T* output, size_t size) {
    auto generator = engine.__gpulab_generator();
    check<R>(logarithmic ? R::log_normal(generator, output, size, mean_, deviation_)
                         : R::normal(generator, output, size, mean_, deviation_));
  }
};
template <class R, class T>
class poisson_integers {
  static_assert(std::is_same<T, unsigned int>::value, "poisson_distribution gives unsigned int");
  double mean_;

 public:
  using result_type = T;
  explicit poisson_integers(double mean = 1) : mean_(mean) {}
  void reset() {}
  double mean() const { return mean_; }
  T min() const { return 0; }
  T max() const { return std::numeric_limits<T>::max(); }
  template <class Engine>
  void operator()(Engine& engine, T* output, size_t size) {
    check<R>(R::poisson(engine.__gpulab_generator(), output, size, mean_));
  }
};
}  // namespace __gpulab_random

// A library's namespace: `calls` is its structure R, and each of the types begins with `types`.
#define __GPULAB_RANDOM_CLASSES__(space, calls, types)                                                            \
  namespace space {                                                                                               \
  using error = __gpulab_random::failure<calls>;                                                                  \
  using random_device = std::random_device;                                                                       \
  template <unsigned long long seed = 0>                                                                          \
  using xorwow_engine = __gpulab_random::engine<calls, types##XORWOW, seed>;                                      \
  template <unsigned long long seed = 12345>                                                                      \
  using mrg32k3a_engine = __gpulab_random::engine<calls, types##MRG32K3A, seed>;                                  \
  template <unsigned long long seed = 0xdeadbeefdeadbeefull>                                                      \
  using philox4x32_10_engine = __gpulab_random::engine<calls, types##PHILOX4_32_10, seed>;                        \
  using xorwow = xorwow_engine<>;                                                                                 \
  using mrg32k3a = mrg32k3a_engine<>;                                                                             \
  using philox4x32_10 = philox4x32_10_engine<>;                                                                   \
  using default_random_engine = xorwow;                                                                           \
  template <class T = unsigned int>                                                                               \
  using uniform_int_distribution = __gpulab_random::uniform_integers<calls, T>;                                   \
  template <class T = float>                                                                                      \
  using uniform_real_distribution = __gpulab_random::uniform_reals<calls, T>;                                     \
  template <class T = float>                                                                                      \
  using normal_distribution = __gpulab_random::normal_reals<calls, T, false>;                                     \
  template <class T = float>                                                                                      \
  using lognormal_distribution = __gpulab_random::normal_reals<calls, T, true>;                                   \
  template <class T = unsigned int>                                                                               \
  using poisson_distribution = __gpulab_random::poisson_integers<calls, T>;                                       \
  }
#include "names_end.h"
#endif
