// hipRAND's classes for C++: engines and distributions, over the calls of hiprand.h.
#pragma once
#include "hiprand.h"

#include "../gpulab/random_classes.h"
#ifdef __GPULAB_PROGRAM__
struct __gpulab_hiprand_calls {
  using status = hiprandStatus_t;
  using generator = hiprandGenerator_t;
  using type = hiprandRngType_t;
  static constexpr const char* name = "hipRAND failed with status ";
  static status create(generator* made, type kind) { return hiprandCreateGenerator(made, kind); }
  static status destroy(generator g) { return hiprandDestroyGenerator(g); }
  static status set_stream(generator g, hipStream_t stream) { return hiprandSetStream(g, stream); }
  static status set_seed(generator g, unsigned long long seed) { return hiprandSetPseudoRandomGeneratorSeed(g, seed); }
  static status set_offset(generator g, unsigned long long offset) { return hiprandSetGeneratorOffset(g, offset); }
  static status integers(generator g, unsigned int* out, size_t n) { return hiprandGenerate(g, out, n); }
  static status integers(generator g, unsigned short* out, size_t n) { return hiprandGenerateShort(g, out, n); }
  static status integers(generator g, unsigned char* out, size_t n) { return hiprandGenerateChar(g, out, n); }
  static status uniform(generator g, float* out, size_t n) { return hiprandGenerateUniform(g, out, n); }
  static status uniform(generator g, double* out, size_t n) { return hiprandGenerateUniformDouble(g, out, n); }
  static status normal(generator g, float* out, size_t n, float mean, float deviation) {
    return hiprandGenerateNormal(g, out, n, mean, deviation);
  }
  static status normal(generator g, double* out, size_t n, double mean, double deviation) {
    return hiprandGenerateNormalDouble(g, out, n, mean, deviation);
  }
  static status log_normal(generator g, float* out, size_t n, float mean, float deviation) {
    return hiprandGenerateLogNormal(g, out, n, mean, deviation);
  }
  static status log_normal(generator g, double* out, size_t n, double mean, double deviation) {
    return hiprandGenerateLogNormalDouble(g, out, n, mean, deviation);
  }
  static status poisson(generator g, unsigned int* out, size_t n, double mean) {
    return hiprandGeneratePoisson(g, out, n, mean);
  }
};
__GPULAB_RANDOM_CLASSES__(hiprand_cpp, __gpulab_hiprand_calls, HIPRAND_RNG_PSEUDO_)
#endif
