// Random number engines and distributions for host and device, with the parameters that Thrust documents.
//
// Engines: linear_congruential_engine (minstd_rand0, minstd_rand = default_random_engine), subtract_with_carry_engine
// (ranlux24_base, ranlux48_base), discard_block_engine (ranlux24, ranlux48), linear_feedback_shift_engine and
// xor_combine_engine (taus88). Distributions: uniform_int, uniform_real, normal. The numbers of the engines are those
// of the standard's engines of these names; how distributions use them is gpulab's choice.
#pragma once
#include "detail/config.h"  // first: it says what is wrong in a cell of kernels
#include <cmath>
#include <iostream>  // with std::cout, as there
#include <limits>

#include "pair.h"

#pragma clang force_cuda_host_device begin
namespace thrust {
namespace random {
namespace detail {
template <typename UInt>
constexpr UInt multiply_modulo(UInt a, UInt b, UInt m) {
  if constexpr (sizeof(UInt) <= 4) {
    unsigned long long product = static_cast<unsigned long long>(a) * b;
    return static_cast<UInt>(m == 0 ? product : product % m);
  } else {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    if (m == 0) return static_cast<UInt>(product);
    UInt result = 0;  // by doubling: the device has no division of 128 bits
    for (a %= m; b; b >>= 1) {
      if (b & 1) result = a >= m - result ? a - (m - result) : a + result;
      a = a >= m - a ? a - (m - a) : a + a;
    }
    return result;
  }
}
template <typename UInt>
constexpr UInt add_modulo(UInt a, UInt b, UInt m) {
  if (m == 0) return static_cast<UInt>(a + b);
  return a >= m - b ? static_cast<UInt>(a - (m - b)) : static_cast<UInt>(a + b);
}
}  // namespace detail

template <typename UInt, UInt a, UInt c, UInt m>
class linear_congruential_engine {
  UInt x;

 public:
  using result_type = UInt;
  static constexpr UInt multiplier = a, increment = c, modulus = m;
  static constexpr UInt min = c == 0u ? 1u : 0u, max = static_cast<UInt>(m - 1u);
  static constexpr UInt default_seed = 1u;
  explicit linear_congruential_engine(UInt value = default_seed) { seed(value); }
  void seed(UInt value = default_seed) {
    UInt rest = m == 0 ? value : static_cast<UInt>(value % (m == 0 ? 1 : m));
    x = (m == 0 ? c : c % (m == 0 ? 1 : m)) == 0 && rest == 0 ? 1 : rest;
  }
  UInt operator()() {
    x = detail::add_modulo(detail::multiply_modulo(a, x, m), c, m);
    return x;
  }
  // In as many steps as the count has bits: z steps are one of the same kind, with a^z and c * (1 + a + ... + a^(z-1)).
  void discard(unsigned long long count) {
    UInt factor = 1, addend = 0, step_factor = a, step_addend = c;
    for (; count; count >>= 1) {
      if (count & 1) {
        addend = detail::add_modulo(detail::multiply_modulo(step_factor, addend, m), step_addend, m);
        factor = detail::multiply_modulo(step_factor, factor, m);
      }
      step_addend = detail::add_modulo(detail::multiply_modulo(step_factor, step_addend, m), step_addend, m);
      step_factor = detail::multiply_modulo(step_factor, step_factor, m);
    }
    x = detail::add_modulo(detail::multiply_modulo(factor, x, m), addend, m);
  }
  friend bool operator==(const linear_congruential_engine& one, const linear_congruential_engine& two) {
    return one.x == two.x;
  }
  friend bool operator!=(const linear_congruential_engine& one, const linear_congruential_engine& two) {
    return one.x != two.x;
  }
  template <typename C, typename T>
  friend std::basic_ostream<C, T>& operator<<(std::basic_ostream<C, T>& out, const linear_congruential_engine& one) {
    return out << one.x;
  }
  template <typename C, typename T>
  friend std::basic_istream<C, T>& operator>>(std::basic_istream<C, T>& in, linear_congruential_engine& one) {
    return in >> one.x;
  }
};
using minstd_rand0 = linear_congruential_engine<std::uint32_t, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<std::uint32_t, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;

template <typename UInt, size_t w, size_t s, size_t r>
class subtract_with_carry_engine {
  UInt x[r];
  unsigned int place;
  UInt carry;

 public:
  using result_type = UInt;
  static constexpr size_t word_size = w, short_lag = s, long_lag = r;
  static constexpr UInt min = 0, max = (UInt(1) << (w - 1)) - 1 + (UInt(1) << (w - 1));
  static constexpr UInt default_seed = 19780503u;
  explicit subtract_with_carry_engine(UInt value = default_seed) { seed(value); }
  void seed(UInt value = default_seed) {
    linear_congruential_engine<std::uint32_t, 40014u, 0u, 2147483563u> words(
        static_cast<std::uint32_t>(value == 0u ? default_seed : value));
    for (size_t i = 0; i < r; ++i) {
      x[i] = 0;
      for (size_t j = 0; j < (w + 31) / 32; ++j) x[i] += static_cast<UInt>(words()) << (32 * j);
      x[i] &= max;
    }
    carry = x[r - 1] == 0;
    place = 0;
  }
  UInt operator()() {
    UInt earlier = x[(place + r - s) % r], taken = x[place] + carry;
    carry = earlier < taken;
    UInt value = (earlier - taken) & max;
    x[place] = value;
    place = static_cast<unsigned int>((place + 1) % r);
    return value;
  }
  void discard(unsigned long long count) {
    for (; count; --count) (*this)();
  }
  friend bool operator==(const subtract_with_carry_engine& one, const subtract_with_carry_engine& two) {
    bool same = one.carry == two.carry;
    for (size_t i = 0; i < r; ++i) same = same && one.x[(one.place + i) % r] == two.x[(two.place + i) % r];
    return same;
  }
  friend bool operator!=(const subtract_with_carry_engine& one, const subtract_with_carry_engine& two) {
    return !(one == two);
  }
};
using ranlux24_base = subtract_with_carry_engine<std::uint32_t, 24, 10, 24>;
using ranlux48_base = subtract_with_carry_engine<std::uint64_t, 48, 5, 12>;

template <typename Engine, size_t p, size_t r>
class discard_block_engine {
  Engine engine;
  unsigned int used = 0;

 public:
  using base_type = Engine;
  using result_type = typename Engine::result_type;
  static constexpr size_t block_size = p, used_block = r;
  static constexpr result_type min = Engine::min, max = Engine::max;
  discard_block_engine() = default;
  explicit discard_block_engine(result_type value) : engine(value) {}
  explicit discard_block_engine(const Engine& given) : engine(given) {}
  void seed() {
    engine.seed();
    used = 0;
  }
  void seed(result_type value) {
    engine.seed(value);
    used = 0;
  }
  result_type operator()() {
    if (used >= r) {
      engine.discard(p - r);
      used = 0;
    }
    ++used;
    return engine();
  }
  void discard(unsigned long long count) {
    for (; count; --count) (*this)();
  }
  const Engine& base() const { return engine; }
  friend bool operator==(const discard_block_engine& one, const discard_block_engine& two) {
    return one.used == two.used && one.engine == two.engine;
  }
  friend bool operator!=(const discard_block_engine& one, const discard_block_engine& two) { return !(one == two); }
};
using ranlux24 = discard_block_engine<ranlux24_base, 223, 23>;
using ranlux48 = discard_block_engine<ranlux48_base, 389, 11>;

// Tausworthe's generator: w bits, of which k are used, feedback q, step s.
template <typename UInt, size_t w, size_t k, size_t q, size_t s>
class linear_feedback_shift_engine {
  UInt x;
  static constexpr UInt mask = (UInt(1) << (w - 1)) - 1 + (UInt(1) << (w - 1));

 public:
  using result_type = UInt;
  static constexpr size_t word_size = w, exponent1 = k, exponent2 = q, step_size = s;
  static constexpr UInt min = 0, max = mask;
  static constexpr UInt default_seed = 341u;
  explicit linear_feedback_shift_engine(UInt value = default_seed) { seed(value); }
  void seed(UInt value = default_seed) { x = value; }
  UInt operator()() {
    UInt shifted = static_cast<UInt>(((x << q) ^ x) & mask) >> (k - s);
    UInt kept = static_cast<UInt>(mask << (w - k)) & mask;
    x = static_cast<UInt>(((x & kept) << s) & mask) ^ shifted;
    return x;
  }
  void discard(unsigned long long count) {
    for (; count; --count) (*this)();
  }
  friend bool operator==(const linear_feedback_shift_engine& one, const linear_feedback_shift_engine& two) {
    return one.x == two.x;
  }
  friend bool operator!=(const linear_feedback_shift_engine& one, const linear_feedback_shift_engine& two) {
    return one.x != two.x;
  }
};
template <typename First, size_t first_shift, typename Second, size_t second_shift>
class xor_combine_engine {
  First one;
  Second two;

 public:
  using base1_type = First;
  using base2_type = Second;
  using result_type = std::conditional_t<(sizeof(typename Second::result_type) > sizeof(typename First::result_type)),
                                         typename Second::result_type, typename First::result_type>;
  static constexpr size_t shift1 = first_shift, shift2 = second_shift;
  static constexpr result_type min = 0, max = static_cast<result_type>(~result_type(0));
  xor_combine_engine() = default;
  explicit xor_combine_engine(result_type value) : one(value), two(value) {}
  xor_combine_engine(const First& a, const Second& b) : one(a), two(b) {}
  void seed() {
    one.seed();
    two.seed();
  }
  void seed(result_type value) {
    one.seed(value);
    two.seed(value);
  }
  result_type operator()() {
    return static_cast<result_type>((static_cast<result_type>(one()) << first_shift) ^
                                    (static_cast<result_type>(two()) << second_shift));
  }
  void discard(unsigned long long count) {
    for (; count; --count) (*this)();
  }
  const First& base1() const { return one; }
  const Second& base2() const { return two; }
  friend bool operator==(const xor_combine_engine& a, const xor_combine_engine& b) {
    return a.one == b.one && a.two == b.two;
  }
  friend bool operator!=(const xor_combine_engine& a, const xor_combine_engine& b) { return !(a == b); }
};
using taus88 = xor_combine_engine<
    linear_feedback_shift_engine<std::uint32_t, 32, 31, 13, 12>, 0,
    xor_combine_engine<linear_feedback_shift_engine<std::uint32_t, 32, 29, 2, 4>, 0,
                       linear_feedback_shift_engine<std::uint32_t, 32, 28, 3, 17>, 0>,
    0>;

// From a to before b.
template <typename Real = double>
class uniform_real_distribution {
 public:
  using result_type = Real;
  using param_type = thrust::pair<Real, Real>;
  explicit uniform_real_distribution(Real a = 0, Real b = 1) : limits(a, b) {}
  explicit uniform_real_distribution(const param_type& given) : limits(given) {}
  void reset() {}
  template <typename Engine>
  Real operator()(Engine& engine) {
    return (*this)(engine, limits);
  }
  template <typename Engine>
  Real operator()(Engine& engine, const param_type& given) {
    // Two numbers where one has too few bits for the type.
    constexpr double range = static_cast<double>(Engine::max) - static_cast<double>(Engine::min) + 1.0;
    double x = static_cast<double>(engine() - Engine::min);
    double whole = range;
    if constexpr (sizeof(Real) == 8 && range < 9007199254740992.0) {
      x = x * range + static_cast<double>(engine() - Engine::min);
      whole *= range;
    }
    Real fraction = static_cast<Real>(x / whole);
    if (fraction >= Real(1)) fraction = Real(1) - std::numeric_limits<Real>::epsilon() / 2;
    Real value = given.first + fraction * (given.second - given.first);
    return value < given.second || given.first == given.second ? value : given.first;
  }
  Real a() const { return limits.first; }
  Real b() const { return limits.second; }
  Real min() const { return limits.first; }
  Real max() const { return limits.second; }
  param_type param() const { return limits; }
  void param(const param_type& given) { limits = given; }
  friend bool operator==(const uniform_real_distribution& one, const uniform_real_distribution& two) {
    return one.limits == two.limits;
  }
  friend bool operator!=(const uniform_real_distribution& one, const uniform_real_distribution& two) {
    return one.limits != two.limits;
  }

 private:
  param_type limits;
};

// From a to b, both included.
template <typename Int = int>
class uniform_int_distribution {
 public:
  using result_type = Int;
  using param_type = thrust::pair<Int, Int>;
  explicit uniform_int_distribution(Int a = 0, Int b = std::numeric_limits<Int>::max()) : limits(a, b) {}
  explicit uniform_int_distribution(const param_type& given) : limits(given) {}
  void reset() {}
  template <typename Engine>
  Int operator()(Engine& engine) {
    return (*this)(engine, limits);
  }
  template <typename Engine>
  Int operator()(Engine& engine, const param_type& given) {
    using wide = unsigned long long;
    wide span = static_cast<wide>(given.second) - static_cast<wide>(given.first);
    if (span == 0) return given.first;
    constexpr wide last = static_cast<wide>(Engine::max) - static_cast<wide>(Engine::min);
    // Equally likely: numbers beyond the last whole multiple of the span are drawn again.
    wide value;
    if (span <= last) {
      wide count = span + 1;
      wide rest = count == 0 ? 0 : (last % count + 1) % count;
      do value = static_cast<wide>(engine() - Engine::min);
      while (value > last - rest);
      if (count != 0) value %= count;
    } else {
      do {
        value = 0;
        for (wide drawn = 0; drawn < span;) {
          value = value * (last + 1) + static_cast<wide>(engine() - Engine::min);
          drawn = drawn > (~wide(0) - last) / (last + 1) ? ~wide(0) : drawn * (last + 1) + last;
        }
        wide mask = span;
        for (unsigned shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
        value &= mask;
      } while (value > span);
    }
    return static_cast<Int>(static_cast<wide>(given.first) + value);
  }
  Int a() const { return limits.first; }
  Int b() const { return limits.second; }
  Int min() const { return limits.first; }
  Int max() const { return limits.second; }
  param_type param() const { return limits; }
  void param(const param_type& given) { limits = given; }
  friend bool operator==(const uniform_int_distribution& one, const uniform_int_distribution& two) {
    return one.limits == two.limits;
  }
  friend bool operator!=(const uniform_int_distribution& one, const uniform_int_distribution& two) {
    return one.limits != two.limits;
  }

 private:
  param_type limits;
};

// Mean and standard deviation; by the method of Box and Muller, each call on two fresh uniform numbers.
template <typename Real = double>
class normal_distribution {
 public:
  using result_type = Real;
  using param_type = thrust::pair<Real, Real>;
  explicit normal_distribution(Real mean = 0, Real deviation = 1) : parameters(mean, deviation) {}
  explicit normal_distribution(const param_type& given) : parameters(given) {}
  void reset() {}
  template <typename Engine>
  Real operator()(Engine& engine) {
    return (*this)(engine, parameters);
  }
  template <typename Engine>
  Real operator()(Engine& engine, const param_type& given) {
    uniform_real_distribution<Real> uniform;
    Real radius = std::sqrt(Real(-2) * std::log(Real(1) - uniform(engine)));
    return given.first + given.second * radius * std::cos(Real(6.283185307179586476925) * uniform(engine));
  }
  Real mean() const { return parameters.first; }
  Real stddev() const { return parameters.second; }
  Real min() const { return std::numeric_limits<Real>::lowest(); }
  Real max() const { return std::numeric_limits<Real>::max(); }
  param_type param() const { return parameters; }
  void param(const param_type& given) { parameters = given; }
  friend bool operator==(const normal_distribution& one, const normal_distribution& two) {
    return one.parameters == two.parameters;
  }
  friend bool operator!=(const normal_distribution& one, const normal_distribution& two) {
    return one.parameters != two.parameters;
  }

 private:
  param_type parameters;
};
}  // namespace random

using random::default_random_engine;
using random::discard_block_engine;
using random::linear_congruential_engine;
using random::linear_feedback_shift_engine;
using random::minstd_rand;
using random::minstd_rand0;
using random::normal_distribution;
using random::ranlux24;
using random::ranlux24_base;
using random::ranlux48;
using random::ranlux48_base;
using random::subtract_with_carry_engine;
using random::taus88;
using random::uniform_int_distribution;
using random::uniform_real_distribution;
using random::xor_combine_engine;
}  // namespace thrust
#pragma clang force_cuda_host_device end
