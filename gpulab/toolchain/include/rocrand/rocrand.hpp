// rocRAND's classes for C++: engines and distributions, over the calls of rocrand.h.
#pragma once
#include "rocrand.h"

#include "../gpulab/random_classes.h"
#ifdef __GPULAB_PROGRAM__
struct __gpulab_rocrand_calls {
  using status = rocrand_status;
  using generator = rocrand_generator;
  using type = rocrand_rng_type;
  static constexpr const char* name = "rocRAND failed with status ";
  static status create(generator* made, type kind) { return rocrand_create_generator(made, kind); }
  static status destroy(generator g) { return rocrand_destroy_generator(g); }
  static status set_stream(generator g, hipStream_t stream) { return rocrand_set_stream(g, stream); }
  static status set_seed(generator g, unsigned long long seed) { return rocrand_set_seed(g, seed); }
  static status set_offset(generator g, unsigned long long offset) { return rocrand_set_offset(g, offset); }
  static status integers(generator g, unsigned int* out, size_t n) { return rocrand_generate(g, out, n); }
  static status integers(generator g, unsigned short* out, size_t n) { return rocrand_generate_short(g, out, n); }
  static status integers(generator g, unsigned char* out, size_t n) { return rocrand_generate_char(g, out, n); }
  static status uniform(generator g, float* out, size_t n) { return rocrand_generate_uniform(g, out, n); }
  static status uniform(generator g, double* out, size_t n) { return rocrand_generate_uniform_double(g, out, n); }
  static status normal(generator g, float* out, size_t n, float mean, float deviation) {
    return rocrand_generate_normal(g, out, n, mean, deviation);
  }
  static status normal(generator g, double* out, size_t n, double mean, double deviation) {
    return rocrand_generate_normal_double(g, out, n, mean, deviation);
  }
  static status log_normal(generator g, float* out, size_t n, float mean, float deviation) {
    return rocrand_generate_log_normal(g, out, n, mean, deviation);
  }
  static status log_normal(generator g, double* out, size_t n, double mean, double deviation) {
    return rocrand_generate_log_normal_double(g, out, n, mean, deviation);
  }
  static status poisson(generator g, unsigned int* out, size_t n, double mean) {
    return rocrand_generate_poisson(g, out, n, mean);
  }
};
__GPULAB_RANDOM_CLASSES__(rocrand_cpp, __gpulab_rocrand_calls, ROCRAND_RNG_PSEUDO_)
#endif
