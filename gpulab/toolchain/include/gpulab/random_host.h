// Random numbers by calls of the host: arrays of them, made by kernels. rocrand.h and hiprand.h give it their names.
//
// Number n of what a generator gives is made by thread n % 4096, from the subsequence of that thread, as in cuRAND
// (by its documentation) for XORWOW. rocRAND's own order is another one.
#pragma once
#ifndef __cplusplus
#error "gpulab has random numbers for C++ sources alone: give the file the ending .cpp"
#endif
#include "random.h"
#ifdef __GPULAB_PROGRAM__
#include <stdio.h>

#include "names.h"

namespace __gpulab_random {
constexpr unsigned int subsequences = 4096;
enum status { success, not_created = 101, no_memory = 102, wrong_type = 103, out_of_range = 104, failed_launch = 107 };
enum kind { none, xorwow, mrg32k3a, philox };

struct generator {
  int kind;
  bool on_host;
  hipStream_t stream;
  unsigned long long seed, position;
  void* states;
};

template <class S>
__global__ void begin(S* states, unsigned long long seed, unsigned long long position) {
  unsigned int t = blockIdx.x * blockDim.x + threadIdx.x;
  start(seed, t, position / subsequences + (t < position % subsequences), states + t);
}
template <class S, class T, class F>
__global__ void fill(S* states, T* out, size_t n, unsigned int position, F draw) {
  unsigned int t = blockIdx.x * blockDim.x + threadIdx.x;
  S state = states[t];
  for (size_t i = (t - position) % subsequences; i < n; i += subsequences) out[i] = draw(&state);
  states[t] = state;
}

struct integers {
  template <class S>
  __device__ unsigned int operator()(S* s) const {
    return integer(s);
  }
};
struct uniforms {
  template <class S>
  __device__ float operator()(S* s) const {
    return uniform(s);
  }
};
struct uniform_doubles {
  template <class S>
  __device__ double operator()(S* s) const {
    return uniform_double(s);
  }
};
struct normals {
  float mean, deviation;
  bool logarithmic;
  template <class S>
  __device__ float operator()(S* s) const {
    float x = mean + deviation * normal(s);
    return logarithmic ? expf(x) : x;
  }
};
struct normal_doubles {
  double mean, deviation;
  bool logarithmic;
  template <class S>
  __device__ double operator()(S* s) const {
    double x = mean + deviation * normal_double(s);
    return logarithmic ? exp(x) : x;
  }
};
struct poissons {
  double mean;
  template <class S>
  __device__ unsigned int operator()(S* s) const {
    return poisson(s, mean);
  }
};
template <int shift>
struct parts {
  template <class S>
  __device__ unsigned int operator()(S* s) const {
    return integer(s) >> shift;
  }
};

inline int create(generator** made, int kind, int asked, bool on_host) {
  if (made == nullptr) return out_of_range;
  if (kind == none) {
    fprintf(stderr, "gpulab: there is no random number generator of type %d here. Take XORWOW, MRG32K3A or "
                    "PHILOX4_32_10.\n", asked);
    return wrong_type;
  }
  unsigned long long seed = kind == xorwow ? 0 : kind == mrg32k3a ? 12345 : 0xdeadbeefdeadbeefull;
  *made = new generator{kind, on_host, nullptr, seed, 0, nullptr};
  return success;
}
inline int reset(generator* g) {  // the states are made anew by the next call that needs them
  if (g == nullptr) return not_created;
  if (g->states != nullptr) (void)hipFree(g->states);
  g->states = nullptr;
  return success;
}
inline int destroy(generator* g) {
  int status = reset(g);
  delete g;
  return status;
}
inline int seed(generator* g, unsigned long long seed) {
  int status = reset(g);
  if (status == success) g->seed = seed, g->position = 0;
  return status;
}
inline int offset(generator* g, unsigned long long position) {
  int status = reset(g);
  if (status == success) g->position = position;
  return status;
}
inline int stream(generator* g, hipStream_t stream) {
  if (g == nullptr) return not_created;
  g->stream = stream;
  return success;
}
template <class S>
int prepare(generator* g) {
  if (g->states != nullptr) return success;
  if (hipMalloc(&g->states, subsequences * sizeof(S)) != hipSuccess) return no_memory;
  begin<S><<<subsequences / 256, 256, 0, g->stream>>>((S*)g->states, g->seed, g->position);
  return hipPeekAtLastError() == hipSuccess ? success : failed_launch;
}
template <int = 0>
int prepare(generator* g) {
  if (g == nullptr) return not_created;
  if (g->kind == xorwow) return prepare<rocrand_state_xorwow>(g);
  if (g->kind == philox) return prepare<rocrand_state_philox4x32_10>(g);
  return prepare<rocrand_state_mrg32k3a>(g);
}
template <class S, class T, class F>
int make(generator* g, T* out, size_t n, F draw) {
  int status = prepare<S>(g);
  if (status != success) return status;
  fill<<<subsequences / 256, 256, 0, g->stream>>>((S*)g->states, out, n, (unsigned int)g->position, draw);
  g->position += n;
  return hipPeekAtLastError() == hipSuccess ? success : failed_launch;
}
template <class T, class F>
int generate(generator* g, T* out, size_t n, F draw) {
  if (g == nullptr) return not_created;
  if (n == 0) return success;
  T* there = out;
  if (g->on_host && hipMalloc((void**)&there, n * sizeof(T)) != hipSuccess) return no_memory;
  int status = g->kind == xorwow   ? make<rocrand_state_xorwow>(g, there, n, draw)
               : g->kind == philox ? make<rocrand_state_philox4x32_10>(g, there, n, draw)
                                   : make<rocrand_state_mrg32k3a>(g, there, n, draw);
  if (g->on_host) {
    if (status == success && hipStreamSynchronize(g->stream) != hipSuccess) status = failed_launch;
    if (status == success && hipMemcpy(out, there, n * sizeof(T), hipMemcpyDeviceToHost) != hipSuccess) {
      status = failed_launch;
    }
    (void)hipFree(there);
  }
  return status;
}
}  // namespace __gpulab_random

// The calls that make numbers; the arguments are their names, and `as` makes a library's code of one of the above. They
// are templates, so that a program has kernels only for those that it calls.
#define __GPULAB_RANDOM_CALLS__(Status, as, Generator, integers_, chars_, shorts_, uniform_, uniform_double_, normal_, \
                                normal_double_, log_normal_, log_normal_double_, poisson_)                             \
  template <int = 0>                                                                                                   \
  inline Status integers_(Generator g, unsigned int* out, size_t n) {                                                  \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::integers()));                                      \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status chars_(Generator g, unsigned char* out, size_t n) {                                                    \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::parts<24>()));                                     \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status shorts_(Generator g, unsigned short* out, size_t n) {                                                  \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::parts<16>()));                                     \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status uniform_(Generator g, float* out, size_t n) {                                                          \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::uniforms()));                                      \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status uniform_double_(Generator g, double* out, size_t n) {                                                  \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::uniform_doubles()));                               \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status normal_(Generator g, float* out, size_t n, float mean, float deviation) {                              \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::normals{mean, deviation, false}));                 \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status normal_double_(Generator g, double* out, size_t n, double mean, double deviation) {                    \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::normal_doubles{mean, deviation, false}));          \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status log_normal_(Generator g, float* out, size_t n, float mean, float deviation) {                          \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::normals{mean, deviation, true}));                  \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status log_normal_double_(Generator g, double* out, size_t n, double mean, double deviation) {                \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::normal_doubles{mean, deviation, true}));           \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status poisson_(Generator g, unsigned int* out, size_t n, double mean) {                                      \
    if (!(mean > 0)) return as(__gpulab_random::out_of_range);                                                         \
    return as(__gpulab_random::generate(g, out, n, __gpulab_random::poissons{mean}));                                  \
  }

// The other calls. `kind_of` gives the kind for a type.
#define __GPULAB_RANDOM_ADMINISTRATION__(Status, as, Generator, Type, create_, create_host_, destroy_, stream_, seed_, \
                                         offset_, prepare_)                                                            \
  template <int = 0>                                                                                                   \
  inline Status create_(Generator* made, Type type) {                                                                  \
    return as(__gpulab_random::create(made, __gpulab_random::kind_of(type), type, false));                             \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status create_host_(Generator* made, Type type) {                                                             \
    return as(__gpulab_random::create(made, __gpulab_random::kind_of(type), type, true));                              \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status destroy_(Generator g) {                                                                                \
    return as(__gpulab_random::destroy(g));                                                                            \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status stream_(Generator g, hipStream_t stream) {                                                             \
    return as(__gpulab_random::stream(g, stream));                                                                     \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status seed_(Generator g, unsigned long long seed) {                                                          \
    return as(__gpulab_random::seed(g, seed));                                                                         \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status offset_(Generator g, unsigned long long offset) {                                                      \
    return as(__gpulab_random::offset(g, offset));                                                                     \
  }                                                                                                                    \
  template <int = 0>                                                                                                   \
  inline Status prepare_(Generator g) {                                                                                \
    return as(__gpulab_random::prepare<>(g));                                                                          \
  }
#include "names_end.h"
#endif
