// Random numbers in kernels: three of rocRAND's generators and its distributions, with rocRAND's numbers for the same
// seed. They are functions of a state that each thread keeps.
//
//   rocrand_state_xorwow          Marsaglia's XORWOW; a subsequence has 2^67 numbers
//   rocrand_state_philox4x32_10   Philox of ten rounds (Salmon et al. 2011), a function of a counter and a key
//   rocrand_state_mrg32k3a        L'Ecuyer's combined recursion; a subsequence has 2^76 numbers
//
// Device code alone: states are made and used by kernels.
#pragma once
#include "../hip/hip_runtime.h"
#include "names.h"
#include "random_jumps.h"

// The second number of a pair that the transform of Box and Muller gives waits here for the next call.
struct __gpulab_random_pair {
  unsigned int has_float, has_double;
  float next_float;
  double next_double;
};

struct rocrand_state_xorwow : __gpulab_random_pair {
  static constexpr bool is_mrg = false;
  unsigned int x[5], d;

  __device__ void seed(unsigned long long seed) {
    unsigned int low = 1228688033u * ((unsigned int)seed ^ 0x2c7f967fu);
    unsigned int high = 2073658381u * ((unsigned int)(seed >> 32) ^ 0xa03697cbu);
    x[0] = 123456789u + low;
    x[1] = 362436069u ^ low;
    x[2] = 521288629u + high;
    x[3] = 88675123u ^ high;
    x[4] = 5783321u + low;
    d = 6615241u + high + low;
  }
  __device__ void shift() {
    unsigned int t = x[0] ^ (x[0] >> 2);
    x[0] = x[1], x[1] = x[2], x[2] = x[3], x[3] = x[4];
    x[4] = (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1));
  }
  __device__ unsigned int next() {
    shift();
    d += 362437u;
    return d + x[4];
  }
  // The sum of the states that the polynomial's coefficients choose: the state after as many steps as it stands for.
  __device__ void jump(unsigned long long count, const unsigned int (*table)[5]) {
    for (int place = 0; count != 0; place++, count >>= 4) {
      unsigned int digit = count & 15;
      if (digit == 0) continue;
      const unsigned int* chosen = table[15 * place + digit - 1];
      unsigned int sum[5] = {};
      for (int word = 0; word < 5; word++) {
        unsigned int bits = chosen[word];
#pragma unroll 4
        for (int bit = 0; bit < 32; bit++, bits >>= 1) {
          unsigned int mask = -(bits & 1);
          for (int i = 0; i < 5; i++) sum[i] ^= x[i] & mask;
          shift();
        }
      }
      for (int i = 0; i < 5; i++) x[i] = sum[i];
    }
  }
  __device__ void skip(unsigned long long count) {
    jump(count, __gpulab_xorwow_numbers);
    d += 362437u * (unsigned int)count;
  }
  __device__ void skip_subsequences(unsigned long long count) { jump(count, __gpulab_xorwow_subsequences); }
};

struct rocrand_state_philox4x32_10 : __gpulab_random_pair {
  static constexpr bool is_mrg = false;
  uint4 counter, result;
  uint2 key;
  unsigned int used;

  __device__ void seed(unsigned long long seed) {
    counter = {0, 0, 0, 0};
    key = {(unsigned int)seed, (unsigned int)(seed >> 32)};
    used = 0;
    rounds();
  }
  __device__ void rounds() {
    uint4 c = counter;
    uint2 k = key;
    for (int round = 0; round < 10; round++, k.x += 0x9e3779b9u, k.y += 0xbb67ae85u) {
      unsigned long long left = 0xd2511f53ull * c.x, right = 0xcd9e8d57ull * c.z;
      c = {(unsigned int)(right >> 32) ^ c.y ^ k.x, (unsigned int)right, (unsigned int)(left >> 32) ^ c.w ^ k.y,
           (unsigned int)left};
    }
    result = c;
  }
  __device__ void count(unsigned long long low, unsigned long long high) {
    unsigned long long before = (unsigned long long)counter.y << 32 | counter.x, after = before + low;
    high += ((unsigned long long)counter.w << 32 | counter.z) + (after < before);
    counter = {(unsigned int)after, (unsigned int)(after >> 32), (unsigned int)high, (unsigned int)(high >> 32)};
  }
  __device__ unsigned int next() {
    unsigned int value = used == 0 ? result.x : used == 1 ? result.y : used == 2 ? result.z : result.w;
    if (++used == 4) {
      used = 0;
      count(1, 0);
      rounds();
    }
    return value;
  }
  __device__ uint4 next4() {
    uint4 old = result;
    count(1, 0);
    rounds();
    if (used == 1) return {old.y, old.z, old.w, result.x};
    if (used == 2) return {old.z, old.w, result.x, result.y};
    if (used == 3) return {old.w, result.x, result.y, result.z};
    return old;
  }
  __device__ void skip(unsigned long long n) {
    unsigned int place = used + (n & 3);
    used = place & 3;
    count(n / 4 + place / 4, 0);
    rounds();
  }
  __device__ void skip_subsequences(unsigned long long n) {
    count(0, n);
    rounds();
  }
};

struct rocrand_state_mrg32k3a : __gpulab_random_pair {
  static constexpr bool is_mrg = true;
  static constexpr unsigned long long first = 4294967087ull, second = 4294944443ull;
  unsigned int a[3], b[3];

  __device__ void seed(unsigned long long seed) {
    if (seed == 0) seed = 12345;
    unsigned long long x = (unsigned int)seed ^ 0x55555555u, y = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
    a[0] = a[2] = x * (seed % first) % first;
    a[1] = y * (seed % first) % first;
    b[0] = b[2] = y * (seed % second) % second;
    b[1] = x * (seed % second) % second;
  }
  // In [1, 4294967087].
  __device__ unsigned int next() {
    unsigned long long p = (1403580ull * a[1] + 810728ull * (first - a[0])) % first;
    unsigned long long q = (527612ull * b[2] + 1370589ull * (second - b[0])) % second;
    a[0] = a[1], a[1] = a[2], a[2] = p;
    b[0] = b[1], b[1] = b[2], b[2] = q;
    return p > q ? p - q : p + first - q;
  }
  struct matrix {
    unsigned int at[3][3];
  };
  __device__ static matrix product(const matrix& x, const matrix& y, unsigned long long modulus) {
    matrix z;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        unsigned long long sum = 0;
        for (int k = 0; k < 3; k++) sum += (unsigned long long)x.at[i][k] * y.at[k][j] % modulus;
        z.at[i][j] = sum % modulus;
      }
    return z;
  }
  __device__ static void apply(const matrix& x, unsigned int* v, unsigned long long modulus) {
    unsigned long long w[3] = {};
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) w[i] += (unsigned long long)x.at[i][k] * v[k] % modulus;
    for (int i = 0; i < 3; i++) v[i] = w[i] % modulus;
  }
  // n times 2^doublings steps.
  __device__ void jump(unsigned long long n, int doublings) {
    matrix x = {{{0, 1, 0}, {0, 0, 1}, {(unsigned int)(first - 810728), 1403580, 0}}};
    matrix y = {{{0, 1, 0}, {0, 0, 1}, {(unsigned int)(second - 1370589), 0, 527612}}};
    for (; n != 0; doublings--) {
      if (doublings <= 0) {
        if (n & 1) {
          apply(x, a, first);
          apply(y, b, second);
        }
        n >>= 1;
      }
      x = product(x, x, first);
      y = product(y, y, second);
    }
  }
  __device__ void skip(unsigned long long n) { jump(n, 0); }
  __device__ void skip_subsequences(unsigned long long n) { jump(n, 76); }
};

namespace __gpulab_random {
template <class S>
__device__ unsigned int integer(S* s) {
  if constexpr (S::is_mrg) return (unsigned int)((s->next() - 1) * 1.000000048661607);  // spread over all 32 bits
  else return s->next();
}

// In (0, 1].
__device__ inline float real(unsigned int v) { return 2.3283064e-10f + v * 2.3283064e-10f; }
__device__ inline double real(unsigned int low, unsigned int high) {
  return 0x1p-53 + ((unsigned long long)(high >> 11) << 32 | low) * 0x1p-53;
}
__device__ inline double real_of_mrg(unsigned int v) { return v * 2.3283065498378288e-10; }
template <class S>
__device__ float uniform(S* s) {
  if constexpr (S::is_mrg) return (float)real_of_mrg(s->next());
  else return real(s->next());
}
template <class S>
__device__ double uniform_double(S* s) {
  if constexpr (S::is_mrg) {
    return real_of_mrg(s->next());
  } else {
    unsigned int low = s->next(), high = s->next();
    return real(low, high);
  }
}

// Box and Muller: two normal numbers of two uniform ones.
__device__ inline float2 around(float radius, float angle) {
  float s = sqrtf(-2.0f * logf(radius)), x, y;
  __sincosf(angle, &x, &y);
  return {x * s, y * s};
}
__device__ inline float2 normal2(unsigned int v, unsigned int w) {
  return around(real(v), 1.46291807e-09f + w * 1.46291807e-09f);
}
template <class S>
__device__ float2 normal2(S* s) {
  if constexpr (S::is_mrg) {
    float v = (float)real_of_mrg(s->next()), w = (float)real_of_mrg(s->next());
    return around(v, w * 6.2831855f);
  } else {
    unsigned int v = s->next(), w = s->next();
    return normal2(v, w);
  }
}
__device__ inline double2 around(double radius, double half_turns) {
  double s = sqrt(-2.0 * log(radius)), x, y;
  sincospi(half_turns, &x, &y);
  return {x * s, y * s};
}
__device__ inline double2 normal2_double(uint4 v) {
  unsigned long long r = v.x ^ (unsigned long long)v.y << 21, t = v.z ^ (unsigned long long)v.w << 21;
  return around(0x1p-53 + r * 0x1p-53, 0x1p-52 + t * 0x1p-52);
}
template <class S>
__device__ double2 normal2_double(S* s) {
  if constexpr (S::is_mrg) {
    double v = (float)real_of_mrg(s->next()), w = (float)real_of_mrg(s->next());
    return around(v, w * 2.0);
  } else {
    unsigned int x = s->next(), y = s->next(), z = s->next(), w = s->next();
    return normal2_double(uint4{x, y, z, w});
  }
}
template <class S>
__device__ float normal(S* s) {
  if (s->has_float) {
    s->has_float = 0;
    return s->next_float;
  }
  float2 both = normal2(s);
  s->has_float = 1;
  s->next_float = both.y;
  return both.x;
}
template <class S>
__device__ double normal_double(S* s) {
  if (s->has_double) {
    s->has_double = 0;
    return s->next_double;
  }
  double2 both = normal2_double(s);
  s->has_double = 1;
  s->next_double = both.y;
  return both.x;
}

// Small means by products of uniform numbers (Knuth), larger ones by Atkinson's rejection from a logistic distribution,
// the largest as a normal number.
template <class S>
__device__ unsigned int poisson(S* s, double mean) {
  if (mean < 64.0) {
    double limit = exp(-mean), product = 1.0;
    unsigned int count = 0;
    do {
      count++;
      product *= uniform_double(s);
    } while (product > limit);
    return count - 1;
  }
  if (mean >= 4000.0) return (unsigned int)fmax(0.0, round(sqrt(mean) * normal_double(s) + mean));
  double c = 0.767 - 3.36 / mean, beta = 3.14159265358979323846 / sqrt(3.0 * mean), alpha = beta * mean;
  double k = log(c) - mean - log(beta), log_mean = log(mean);
  for (;;) {
    double u = uniform_double(s);
    double x = (alpha - log((1.0 - u) / u)) / beta;
    double n = floor(x + 0.5);
    if (!(n >= 0.0)) continue;
    double v = uniform_double(s), y = alpha - beta * x, t = 1.0 + exp(y);
    if (y + log(v / (t * t)) <= k + n * log_mean - lgamma(n + 1.0)) return (unsigned int)n;
  }
}
template <class S>
__device__ void start(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, S* s) {
  s->has_float = s->has_double = 0;
  s->seed(seed);
  s->skip_subsequences(subsequence);
  s->skip(offset);
}
}  // namespace __gpulab_random

template <class S, bool = S::is_mrg>
__device__ inline void skipahead(unsigned long long count, S* state) {
  state->skip(count);
}
template <class S, bool = S::is_mrg>
__device__ inline void skipahead_subsequence(unsigned long long count, S* state) {
  state->skip_subsequences(count);
}
template <class S, bool = S::is_mrg>
__device__ inline void skipahead_sequence(unsigned long long count, S* state) {
  if constexpr (__is_same(S, rocrand_state_mrg32k3a)) state->jump(count, 127);
  else state->skip_subsequences(count);
}

// The functions under a library's names: P is what they begin with, D2 and D4 are how it writes two and four doubles.
#define __GPULAB_RANDOM__(P, philox, D2, D4)                                                                           \
  template <class S>                                                                                                   \
  __device__ inline void P##_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,  \
                                  S* state) {                                                                          \
    __gpulab_random::start(seed, subsequence, offset, state);                                                          \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline unsigned int P(S* state) {                                                                         \
    return __gpulab_random::integer(state);                                                                            \
  }                                                                                                                    \
  __device__ inline uint4 P##4(philox* state) { return state->next4(); }                                               \
  template <class S>                                                                                                   \
  __device__ inline float P##_uniform(S* state) {                                                                      \
    return __gpulab_random::uniform(state);                                                                            \
  }                                                                                                                    \
  __device__ inline float2 P##_uniform2(philox* state) {                                                               \
    float x = __gpulab_random::uniform(state), y = __gpulab_random::uniform(state);                                    \
    return {x, y};                                                                                                     \
  }                                                                                                                    \
  __device__ inline float4 P##_uniform4(philox* state) {                                                               \
    uint4 v = state->next4();                                                                                          \
    return {__gpulab_random::real(v.x), __gpulab_random::real(v.y), __gpulab_random::real(v.z),                        \
            __gpulab_random::real(v.w)};                                                                               \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline double P##_uniform_double(S* state) {                                                              \
    return __gpulab_random::uniform_double(state);                                                                     \
  }                                                                                                                    \
  __device__ inline double2 P##_uniform##D2(philox* state) {                                                           \
    uint4 v = state->next4();                                                                                          \
    return {__gpulab_random::real(v.x, v.y), __gpulab_random::real(v.z, v.w)};                                         \
  }                                                                                                                    \
  __device__ inline double4 P##_uniform##D4(philox* state) {                                                           \
    uint4 v = state->next4(), w = state->next4();                                                                      \
    return {__gpulab_random::real(v.x, v.y), __gpulab_random::real(v.z, v.w), __gpulab_random::real(w.x, w.y),         \
            __gpulab_random::real(w.z, w.w)};                                                                          \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline float P##_normal(S* state) {                                                                       \
    return __gpulab_random::normal(state);                                                                             \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline float2 P##_normal2(S* state) {                                                                     \
    return __gpulab_random::normal2(state);                                                                            \
  }                                                                                                                    \
  __device__ inline float4 P##_normal4(philox* state) {                                                                \
    uint4 v = state->next4();                                                                                          \
    float2 one = __gpulab_random::normal2(v.x, v.y), two = __gpulab_random::normal2(v.z, v.w);                         \
    return {one.x, one.y, two.x, two.y};                                                                               \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline double P##_normal_double(S* state) {                                                               \
    return __gpulab_random::normal_double(state);                                                                      \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline double2 P##_normal##D2(S* state) {                                                                 \
    return __gpulab_random::normal2_double(state);                                                                     \
  }                                                                                                                    \
  __device__ inline double4 P##_normal##D4(philox* state) {                                                            \
    double2 one = __gpulab_random::normal2_double(state), two = __gpulab_random::normal2_double(state);                \
    return {one.x, one.y, two.x, two.y};                                                                               \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline float P##_log_normal(S* state, float mean, float deviation) {                                      \
    return expf(mean + deviation * __gpulab_random::normal(state));                                                    \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline float2 P##_log_normal2(S* state, float mean, float deviation) {                                    \
    float2 v = __gpulab_random::normal2(state);                                                                        \
    return {expf(mean + deviation * v.x), expf(mean + deviation * v.y)};                                               \
  }                                                                                                                    \
  __device__ inline float4 P##_log_normal4(philox* state, float mean, float deviation) {                               \
    float4 v = P##_normal4(state);                                                                                     \
    return {expf(mean + deviation * v.x), expf(mean + deviation * v.y), expf(mean + deviation * v.z),                  \
            expf(mean + deviation * v.w)};                                                                             \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline double P##_log_normal_double(S* state, double mean, double deviation) {                            \
    return exp(mean + deviation * __gpulab_random::normal_double(state));                                              \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline double2 P##_log_normal##D2(S* state, double mean, double deviation) {                              \
    double2 v = __gpulab_random::normal2_double(state);                                                                \
    return {exp(mean + deviation * v.x), exp(mean + deviation * v.y)};                                                 \
  }                                                                                                                    \
  __device__ inline double4 P##_log_normal##D4(philox* state, double mean, double deviation) {                         \
    double4 v = P##_normal##D4(state);                                                                                 \
    return {exp(mean + deviation * v.x), exp(mean + deviation * v.y), exp(mean + deviation * v.z),                     \
            exp(mean + deviation * v.w)};                                                                              \
  }                                                                                                                    \
  template <class S>                                                                                                   \
  __device__ inline unsigned int P##_poisson(S* state, double mean) {                                                  \
    return __gpulab_random::poisson(state, mean);                                                                      \
  }                                                                                                                    \
  __device__ inline uint4 P##_poisson4(philox* state, double mean) {                                                   \
    unsigned int x = __gpulab_random::poisson(state, mean), y = __gpulab_random::poisson(state, mean);                 \
    unsigned int z = __gpulab_random::poisson(state, mean), w = __gpulab_random::poisson(state, mean);                 \
    return {x, y, z, w};                                                                                               \
  }
#include "names_end.h"
