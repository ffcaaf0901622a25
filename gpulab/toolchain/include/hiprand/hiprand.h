// hipRAND's calls of the host. They are templates, so that a program has kernels only for those that it calls.
#pragma once
#include "../gpulab/random_host.h"

#define HIPRAND_VERSION 300000

enum hiprandStatus {
  HIPRAND_STATUS_SUCCESS = 0,
  HIPRAND_STATUS_VERSION_MISMATCH = 100,
  HIPRAND_STATUS_NOT_INITIALIZED = 101,
  HIPRAND_STATUS_ALLOCATION_FAILED = 102,
  HIPRAND_STATUS_TYPE_ERROR = 103,
  HIPRAND_STATUS_OUT_OF_RANGE = 104,
  HIPRAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  HIPRAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  HIPRAND_STATUS_LAUNCH_FAILURE = 201,
  HIPRAND_STATUS_PREEXISTING_FAILURE = 202,
  HIPRAND_STATUS_INITIALIZATION_FAILED = 203,
  HIPRAND_STATUS_ARCH_MISMATCH = 204,
  HIPRAND_STATUS_INTERNAL_ERROR = 999,
  HIPRAND_STATUS_NOT_IMPLEMENTED = 1000
};
typedef hiprandStatus hiprandStatus_t;
enum hiprandRngType {
  HIPRAND_RNG_TEST = 0,
  HIPRAND_RNG_PSEUDO_DEFAULT = 400,
  HIPRAND_RNG_PSEUDO_XORWOW = 401,
  HIPRAND_RNG_PSEUDO_MRG32K3A = 402,
  HIPRAND_RNG_PSEUDO_MTGP32 = 403,
  HIPRAND_RNG_PSEUDO_MT19937 = 404,
  HIPRAND_RNG_PSEUDO_PHILOX4_32_10 = 405,
  HIPRAND_RNG_QUASI_DEFAULT = 500,
  HIPRAND_RNG_QUASI_SOBOL32 = 501,
  HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 502,
  HIPRAND_RNG_QUASI_SOBOL64 = 503,
  HIPRAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 504
};
typedef hiprandRngType hiprandRngType_t;
enum hiprandOrdering {
  HIPRAND_ORDERING_PSEUDO_BEST = 100,
  HIPRAND_ORDERING_PSEUDO_DEFAULT = 101,
  HIPRAND_ORDERING_PSEUDO_SEEDED = 102,
  HIPRAND_ORDERING_PSEUDO_LEGACY = 103,
  HIPRAND_ORDERING_PSEUDO_DYNAMIC = 104,
  HIPRAND_ORDERING_QUASI_DEFAULT = 201
};
typedef hiprandOrdering hiprandOrdering_t;

#ifdef __GPULAB_PROGRAM__
typedef __gpulab_random::generator* hiprandGenerator_t;
namespace __gpulab_random {
inline int kind_of(hiprandRngType type) {
  return type == HIPRAND_RNG_PSEUDO_DEFAULT || type == HIPRAND_RNG_PSEUDO_XORWOW ? xorwow
         : type == HIPRAND_RNG_PSEUDO_MRG32K3A                                   ? mrg32k3a
         : type == HIPRAND_RNG_PSEUDO_PHILOX4_32_10                              ? philox
                                                                                 : none;
}
}  // namespace __gpulab_random
inline hiprandStatus_t __gpulab_hiprand_status(int code) {
  return code == __gpulab_random::failed_launch ? HIPRAND_STATUS_LAUNCH_FAILURE : (hiprandStatus_t)code;
}
__GPULAB_RANDOM_ADMINISTRATION__(hiprandStatus_t, __gpulab_hiprand_status, hiprandGenerator_t, hiprandRngType_t,
                                 hiprandCreateGenerator,
                                 hiprandCreateGeneratorHost, hiprandDestroyGenerator, hiprandSetStream,
                                 hiprandSetPseudoRandomGeneratorSeed, hiprandSetGeneratorOffset, hiprandGenerateSeeds)
__GPULAB_RANDOM_CALLS__(hiprandStatus_t, __gpulab_hiprand_status, hiprandGenerator_t, hiprandGenerate,
                        hiprandGenerateChar, hiprandGenerateShort,
                        hiprandGenerateUniform, hiprandGenerateUniformDouble, hiprandGenerateNormal,
                        hiprandGenerateNormalDouble, hiprandGenerateLogNormal, hiprandGenerateLogNormalDouble,
                        hiprandGeneratePoisson)
inline hiprandStatus_t hiprandGetVersion(int* version) {
  if (version == nullptr) return HIPRAND_STATUS_OUT_OF_RANGE;
  *version = HIPRAND_VERSION;
  return HIPRAND_STATUS_SUCCESS;
}
inline hiprandStatus_t hiprandSetGeneratorOrdering(hiprandGenerator_t g, hiprandOrdering_t order) {  // there is one
  if (g == nullptr) return HIPRAND_STATUS_NOT_INITIALIZED;
  return order < HIPRAND_ORDERING_QUASI_DEFAULT ? HIPRAND_STATUS_SUCCESS : HIPRAND_STATUS_OUT_OF_RANGE;
}
#endif
